"""Source text for NumPy's kernels that compute blocks on one or more cores, with separate memory for each thread.

Blocks of elementwise operations run on separate threads that do not affect other code in the process. Matrix products
already use all cores through the threads of the BLAS, but blocks with products are faster with one BLAS thread per
core. If `threadpoolctl` is installed and the plan requests it, the number of BLAS threads is therefore limited while
such blocks run. This number applies to the entire process, which is the one documented exception to the isolation.
"""

from __future__ import annotations

BUFFERS = '''
spare_buffers = []


def in_buffers(work):
    """Return what `work` gives for a function that returns arrays of the shapes and dtypes that it is given.

    Their memory, if it is not large, is kept for the next call, with the arrays that it held last. No other call has it
    while it is in use.
    """
    try:
        memory, last, arrays = spare_buffers.pop()
    except IndexError:
        memory, last, arrays = b"", None, []

    def made(buffers):
        nonlocal memory, last, arrays
        if buffers == last:
            return arrays
        sizes = [-(-math.prod(shape) * np.dtype(dtype).itemsize // 64) * 64 for shape, dtype in buffers]
        total = sum(sizes)
        if len(memory) < total:
            memory = np.empty(total + 64, np.uint8)
            first = -memory.__array_interface__["data"][0] % 64  # a line of the cache begins there
            memory = memory[first : first + total]
        starts = itertools.accumulate(sizes, initial=0)
        arrays = [np.ndarray(*buffer, memory, start) for buffer, start in zip(buffers, starts)]
        last = buffers
        return arrays

    try:
        return work(made)
    finally:
        if 0 < len(memory) <= 2**22 and len(spare_buffers) < 2 * cores():
            spare_buffers.append((memory, last, arrays))
'''
CORES = '''
@functools.cache
def cores():
    """How many threads can run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
'''
POOL = '''
pools, pool_locks = {}, {}  # by the number of the process, since a forked one has none of the threads


def pool():
    """The threads of this process, made when they are first asked for."""
    process = os.getpid()
    with pool_locks.setdefault(process, threading.Lock()):
        if process not in pools:
            pools[process] = concurrent.futures.ThreadPoolExecutor(max(1, cores() - 1), thread_name_prefix="blocks")
        return pools[process]
'''
ON_ALL_CORES = '''
def on_all_cores(work):
    """Do `work` on as many threads as there are cores, this one among them, and wait for all; raise what one raises."""
    others = []
    try:
        for _ in range(cores() - 1):
            others.append(pool().submit(contextvars.copy_context().run, in_buffers, work))
    except RuntimeError:  # no thread can be started, here or any more: this one does it all
        pass
    try:
        in_buffers(work)
    finally:
        started = [other for other in others if not other.cancel()]
        concurrent.futures.wait(started)
    for other in started:
        other.result()
'''
THREAD_CLOCKS = '''
def thread_clocks():
    """The clocks of this process's other threads, where the system is Linux."""
    try:
        threads = {int(name) for name in os.listdir("/proc/self/task")} - {threading.get_native_id()}
    except OSError:
        return []
    return [~thread << 3 | 6 for thread in threads]  # see clock_getcpuclockid(3); 6: its processor time, as the scheduler has it


def any_runs(clocks):
    """Whether one of these threads is running: a clock of processor time moves."""
    for clock in [*clocks]:
        try:
            if time.clock_gettime(clock) != time.clock_gettime(clock):
                return True
        except OSError:  # it has ended
            clocks.remove(clock)
    return False
'''
LIMIT = '''
class blas_limit:
    """NumPy's BLAS with one thread: a number of the whole process, which the first who enters sets, and the last who leaves
    sets back."""

    users = set()  # by their identity
    before = None  # the numbers of threads to set back
    lock = threading.RLock()
    libraries = None
    clocks = ()  # of the threads that there were when the libraries were looked for, those of the BLAS among them
    first = last = 0.0  # when a sequence of entries without long pauses began, and when one last entered or left

    @classmethod
    def enter(limit, user, is_long=False):
        """Whether the BLAS has one thread until `user` leaves."""
        with limit.lock:
            if limit.libraries is None:
                limit.libraries = limit.found()
                limit.clocks = thread_clocks()
            if not limit.libraries or not (limit.users or is_long) and limit.is_too_early():
                return False
            limit.users.add(id(user))
            if limit.before is None:
                limit.before = limit.counts()
            limit.put([1] * len(limit.libraries))
            return set(limit.counts()) == {1}

    @classmethod
    def is_too_early(limit):
        """Whether threads of the BLAS are still awake, as they are for 0.1 s after a product, and would delay ours. After 0.2 s
        of work without a pause it is never too early: the products of that work itself would keep them awake."""
        now = time.perf_counter()
        if now - limit.last > 0.002:
            limit.first = now
        limit.last = now
        return now - limit.first < 0.2 and any_runs(limit.clocks)

    @classmethod
    def counts(limit):
        return [library.get_num_threads() for library in limit.libraries]

    @classmethod
    def put(limit, counts):
        """Set the numbers, unless another thread of the process has taken that upon itself."""
        for library, count in zip(limit.libraries, counts):
            library.set_num_threads(count)
            getattr(library, "clear_controlling_thread", int)()  # the last who leaves is another thread than the first

    @classmethod
    def leave(limit, user):
        with limit.lock:
            limit.last = time.perf_counter()
            limit.users.discard(id(user))
            if not limit.users:
                limit.set_back()

    @classmethod
    def set_back(limit):
        if limit.before is not None:
            limit.put(limit.before)
            limit.before = None

    @classmethod
    def found(limit):
        """The BLAS that NumPy brings, or every one where it brings none, if its number holds for all threads."""
        try:
            from threadpoolctl import ThreadpoolController
        except ImportError:
            return []
        every = [each for each in ThreadpoolController().lib_controllers if each.user_api == "blas"]
        place = os.path.dirname(os.path.abspath(np.__file__))
        brought = (os.path.join(os.path.dirname(place), "numpy.libs"), place)
        own = [each for each in every if os.path.abspath(each.filepath).startswith(brought)] or every
        if any(each.info().get("threading_layer") == "openmp" for each in own):
            return []
        if own and hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=limit.alone)
        return own

    @classmethod
    def alone(limit):
        """In a forked process, where no other thread can release it."""
        limit.lock = threading.RLock()
        limit.clocks = ()
        limit.users.clear()
        limit.set_back()
'''
USER = '''
class blas_user:
    """Who wants one thread; where an interrupt ends it in the midst of leaving, it leaves when it is deleted."""

    def __del__(self):
        blas_limit.leave(self)
'''
BESIDE_BLAS = '''
def on_all_cores_beside_blas(work, is_long=False):
    """The same for work with products of matrices, each on one core; by this thread alone where the BLAS takes all of them."""
    user = blas_user()
    try:
        limited = blas_limit.enter(user, is_long)
        (on_all_cores if limited else in_buffers)(work)
    finally:
        blas_limit.leave(user)
'''
