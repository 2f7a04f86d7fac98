"""Blocks on all cores, each with its memory, as the text that NumPy's kernels are printed with.

Threads of OpenBLAS do not sleep after a product: for a tenth of a second they ask again and again for the next. A thread of
ours would share its core with one of them, and a formula that comes right after a product took one and a half times as
long. So the blocks are given to these threads themselves, by `gotoblas_pthread`, which calls a function once on each of them and
waits; where NumPy has another BLAS, or its threads are somebody else's just then, threads of our own do it.
"""

from __future__ import annotations

BUFFERS = '''
rooms_kept = []


def in_buffers(work):
    """What `work` gives for a function that makes arrays of shapes and dtypes: their memory, where it is not large, is kept
    for the next, and nobody else has it while it is in use."""
    try:
        memory = rooms_kept.pop()
    except IndexError:
        memory = b""

    def made(buffers):
        nonlocal memory
        sizes = [-(-math.prod(shape) * np.dtype(dtype).itemsize // 64) * 64 for shape, dtype in buffers]
        if len(memory) < sum(sizes):
            memory = np.empty(sum(sizes), np.uint8)
        starts = itertools.accumulate(sizes, initial=0)
        return [np.ndarray(*buffer, memory, start) for buffer, start in zip(buffers, starts)]

    try:
        return work(made)
    finally:
        if 0 < len(memory) <= 2**22 and len(rooms_kept) < 2 * cores():
            rooms_kept.append(memory)
'''
CORES = '''
@functools.cache
def cores():
    """How many threads can run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
'''
ON_ALL_CORES = '''
@functools.cache
def threads():
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=threads.cache_clear)
    return concurrent.futures.ThreadPoolExecutor(cores(), thread_name_prefix="blocks")


def on_all_cores(work):
    """Do `work` on as many threads as there are cores, this one among them, and wait for all; raise what one raises."""
    contexts, problems = [contextvars.copy_context() for _ in range(cores())], []

    def job(_=None):
        try:
            contexts.pop().run(in_buffers, work)
        except BaseException as problem:
            problems.append(problem)

    with one_thread_of_blas() as start:
        if start is not None:
            start(cores(), ctypes.CFUNCTYPE(None, ctypes.c_void_p)(job), None, 0)
        else:
            others = [threads().submit(job) for _ in range(cores() - 1)]
            job()
            for other in others:
                other.result()
    if problems:
        raise problems[0]
'''
BLAS = '''
blas_lock = threading.Lock()
blas_users = []  # for each that wants one thread now, how many there were before the first
blas_at_work = threading.Lock()  # held by the one whose blocks the threads of the BLAS compute


@functools.cache
def blas_threads():
    """The functions of NumPy's OpenBLAS that get and set the number of its threads, and that starts a function on them, if it
    has that; None where NumPy has another BLAS."""
    folder = os.path.dirname(np.__file__)
    for path in glob.glob(os.path.join(folder, "..", "numpy.libs", "*openblas*")) + glob.glob(
        os.path.join(folder, ".dylibs", "*openblas*")
    ):
        library = ctypes.CDLL(path)
        for form in ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads"):
            if hasattr(library, form.format("set")):
                if hasattr(os, "register_at_fork"):  # a fork ends the threads of the BLAS, so it waits for their work
                    os.register_at_fork(
                        before=blas_at_work.acquire,
                        after_in_parent=blas_at_work.release,
                        after_in_child=without_blas_users,
                    )
                get, put = getattr(library, form.format("get")), getattr(library, form.format("set"))
                return get, put, getattr(library, "gotoblas_pthread", None)
    return None


def without_blas_users():
    """In a forked process, where no thread is left that would set the number back."""
    global blas_lock
    blas_at_work.release()
    blas_lock = threading.Lock()
    if blas_users:
        blas_threads()[1](blas_users[0])
        blas_users.clear()


@contextlib.contextmanager
def one_thread_of_blas():
    """While blocks are computed on all cores, a product of matrices is to take one.

    The number is that of the whole process: the first who comes sets it, and the last who goes sets it back. To the first
    is given what starts a function on the threads of the BLAS, if there is one for each core; to others None.
    """
    functions = blas_threads()
    if functions is None:
        yield
        return
    get, put, start = functions
    mine = start is not None and blas_at_work.acquire(blocking=False)
    try:
        with blas_lock:
            blas_users.append(blas_users[0] if blas_users else get())
            put(1)
        try:
            yield start if mine and blas_users[0] >= cores() else None
        finally:
            with blas_lock:
                before = blas_users.pop() if blas_users else get()
                if not blas_users:
                    put(before)
    finally:
        if mine:
            blas_at_work.release()
'''
