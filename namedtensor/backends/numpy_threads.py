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
    """Return the result of `work` for a function that returns arrays with given shapes and dtypes.

    Unless it is large, the memory of these arrays is kept for the next call, together with the most recent arrays. No
    other call uses the memory meanwhile.
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
            first = -memory.__array_interface__["data"][0] % 64  # the start of a cache line
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
    """Return the number of threads that can run in parallel."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
'''
POOL = '''
pools, pool_locks = {}, {}  # by process, because a forked process has no threads


def pool():
    """Return the threads of this process, which the first call creates."""
    process = os.getpid()
    with pool_locks.setdefault(process, threading.Lock()):
        if process not in pools:
            pools[process] = concurrent.futures.ThreadPoolExecutor(max(1, cores() - 1), thread_name_prefix="blocks")
        return pools[process]
'''
ON_ALL_CORES = '''
def on_all_cores(work):
    """Run `work` on one thread per core, including this thread. Wait for all threads, and raise their errors."""
    others = []
    try:
        for _ in range(cores() - 1):
            others.append(pool().submit(contextvars.copy_context().run, in_buffers, work))
    except RuntimeError:  # If no thread can be started, this thread does all of the work.
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
    """Return the clocks of this process's other threads on Linux, or an empty list on other systems."""
    try:
        threads = {int(name) for name in os.listdir("/proc/self/task")} - {threading.get_native_id()}
    except OSError:
        return []
    return [~thread << 3 | 6 for thread in threads]  # See clock_getcpuclockid(3); 6 selects the CPU time.


def any_runs(clocks):
    """Return whether one of these threads is running, that is, whether its CPU clock advances."""
    for clock in [*clocks]:
        try:
            if time.clock_gettime(clock) != time.clock_gettime(clock):
                return True
        except OSError:  # The thread has ended.
            clocks.remove(clock)
    return False
'''
LIMIT = '''
class blas_limit:
    """The limit of one BLAS thread. It applies to the whole process. The first user sets the limit, and the last user
    restores the previous number of threads."""

    users = set()  # by their identity
    before = None  # the numbers of threads to restore
    lock = threading.RLock()
    libraries = None
    clocks = ()  # of the threads that existed when the libraries were found, including BLAS threads
    first = last = 0.0  # when the current sequence of entries began, and the last entry or exit

    @classmethod
    def enter(limit, user, is_long=False):
        """Set the limit if possible, and return whether the BLAS uses one thread until `user` leaves."""
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
        """Return whether BLAS threads are still awake, as they are for 0.1 s after a product, and would delay the work.
        After 0.2 s of work without a pause, the limit is never too early, because this work keeps them awake."""
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
        """Set the number of threads of each library, unless another thread of the process controls this number."""
        for library, count in zip(limit.libraries, counts):
            library.set_num_threads(count)
            getattr(library, "clear_controlling_thread", int)()  # Another thread may restore the number.

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
        """Return NumPy's own BLAS libraries, or else all BLAS libraries, if their limit applies to all threads."""
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
        """Remove the limit in a forked process, in which no other thread can do this."""
        limit.lock = threading.RLock()
        limit.clocks = ()
        limit.users.clear()
        limit.set_back()
'''
USER = '''
class blas_user:
    """A user of the BLAS limit. If an interrupt stops it from leaving, it leaves when it is deleted."""

    def __del__(self):
        blas_limit.leave(self)
'''
BESIDE_BLAS = '''
def on_all_cores_beside_blas(work, is_long=False):
    """Run work with matrix products on every core, or only on this thread if the BLAS cannot be limited."""
    user = blas_user()
    try:
        limited = blas_limit.enter(user, is_long)
        (on_all_cores if limited else in_buffers)(work)
    finally:
        blas_limit.leave(user)
'''
