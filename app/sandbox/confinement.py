"""Takes from a sandbox process what it does not need: the network, other files, other processes, credentials.

Linux offers two mechanisms to processes without privileges: Landlock (files) and seccomp (system calls). Where one is
missing, the process goes on without it, and the service logs a warning at its start.
"""

import ctypes
import os
import platform
import resource
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

SECRETS = ("ISM_REDIS_URL", "ISM_API_KEYS")  # environment variables with credentials
STORE_SECRETS = ("AWS_", "GOOGLE_", "CLOUDSDK_")  # beginnings of those with credentials of object stores
STORE_FILES = ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE",
               "GOOGLE_APPLICATION_CREDENTIALS")  # of these, those that name files  # fmt: skip
NETWORK_FILES = (
    "/dev/urandom",
    "/etc/hosts",
    "/etc/resolv.conf",
    "/etc/nsswitch.conf",
    "/etc/ssl",
    "/etc/pki",
    "/run/systemd/resolve",
)
OPEN_FILES = 256  # most open files of a sandbox process
CODE = ("app", "ism_jobs", "ism_core", "ism_plots")  # packages whose files may be read
SYSTEM_FOLDERS = ("/usr", "/lib", "/lib64", "/etc/localtime")  # libraries, fonts and time zones
NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER_MODE = 38, 22, 2  # of prctl

# Landlock, from <linux/landlock.h>
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # system calls, with the same numbers on all processors
ASK_VERSION, PATH_BENEATH = 1, 1
READ = 1 << 2 | 1 << 3  # files and folders
ACCESS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # number of access rights to files, by version
NETWORK_VERSION, SCOPE_VERSION = 4, 6  # the first versions that control TCP; signals and abstract sockets
TCP = SCOPES = 0b11

# seccomp: system calls by processor: socket, connect, bind (the network), execve, execveat, ptrace, process_vm_readv,
# process_vm_writev, open_by_handle_at, unshare, setns, io_uring_setup
REFUSED = {
    "x86_64": (0xC000003E, (41, 42, 49, 59, 322, 101, 310, 311, 304, 272, 308, 425)),
    "aarch64": (0xC00000B7, (198, 203, 200, 221, 281, 117, 270, 271, 265, 97, 268, 425)),
}
NETWORK_CALLS = 3  # of these, the first ones
X32_CALLS = 0x40000000  # system calls from this number on are a second table of x86-64
LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06  # instructions of the filter
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 1  # the error is EPERM


def confine(folder: Path | None) -> list[str]:
    """Confine this process for the rest of its life; it keeps `folder`. Return what could not be taken from it."""
    for name in [name for name in os.environ if name.startswith(STORE_SECRETS)]:
        os.environ.pop(name)
    return _confine(folder, [], has_network=False)


def confine_reader(roots: Sequence[Path]) -> list[str]:
    """Confine this process like `confine`, but leave it the network, these folders, and credentials of object stores.

    It reads tables by reference. It may write nothing, and it has no credentials of the service.
    """
    named = [Path(os.environ[name]) for name in STORE_FILES if name in os.environ]
    home = [Path.home() / ".aws", Path.home() / ".config" / "gcloud"]
    return _confine(None, [*roots, *named, *home, *map(Path, NETWORK_FILES)], has_network=True)


def _confine(folder: Path | None, readable: Sequence[Path], *, has_network: bool) -> list[str]:
    for name in SECRETS:
        os.environ.pop(name, None)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core file would hold the data of the user
    with suppress(ValueError):  # the hard limit is lower already
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    if sys.platform != "linux":
        return ["files", "network"]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    taken = {
        "files": _restrict_files(libc, folder, readable, has_network=has_network),
        "network": _refuse_calls(libc, has_network=has_network),
    }
    return [name for name, is_taken in taken.items() if not is_taken]


def _restrict_files(libc: ctypes.CDLL, folder: Path | None, readable: Sequence[Path], *, has_network: bool) -> bool:
    """Allow to read the code, the libraries and some more, and to change `folder`; nothing may be executed."""
    version = libc.syscall(CREATE_RULESET, None, 0, ASK_VERSION)
    if version < 1:
        return False
    rights = (1 << ACCESS.get(version, 16)) - 1
    tcp = TCP if version >= NETWORK_VERSION and not has_network else 0
    scopes = SCOPES if version >= SCOPE_VERSION else 0
    size = 8 if version < NETWORK_VERSION else 16 if version < SCOPE_VERSION else 24
    ruleset = libc.syscall(CREATE_RULESET, struct.pack("QQQ", rights, tcp, scopes), size, 0)
    if ruleset < 0:
        return False
    try:
        for path in [*_readable(), *readable]:
            _allow(libc, ruleset, path, READ if path.is_dir() else READ & ~(1 << 3))
        if folder is not None:
            _allow(libc, ruleset, folder, rights & ~1)
        return bool(libc.syscall(RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _readable() -> list[Path]:
    packages = [find_spec(name) for name in CODE]
    folders = [Path(spec.origin).parent for spec in packages if spec and spec.origin]
    return [*map(Path, (sys.prefix, sys.base_prefix, *SYSTEM_FOLDERS)), *folders]


def _allow(libc: ctypes.CDLL, ruleset: int, path: Path, rights: int) -> None:
    with suppress(FileNotFoundError, PermissionError):
        file = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", rights, file), 0)
        finally:
            os.close(file)


def _refuse_calls(libc: ctypes.CDLL, *, has_network: bool) -> bool:
    """Refuse the system calls that reach the network, unless it is allowed, other processes and other programs."""
    if platform.machine() not in REFUSED:
        return False
    processor, all_calls = REFUSED[platform.machine()]
    calls = all_calls[NETWORK_CALLS:] if has_network else all_calls
    count = len(calls)
    filter = [  # operation, instructions to skip if it holds, if it does not, operand
        (LOAD, 0, 0, 4),  # the processor whose table of system calls is used
        (EQUAL, 0, count + 3, processor),
        (LOAD, 0, 0, 0),  # the number of the system call
        (AT_LEAST, count + 1, 0, X32_CALLS),
        *((EQUAL, count - place, 0, call) for place, call in enumerate(calls)),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSE),
    ]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in filter))
    program = struct.pack("HP", len(filter), ctypes.addressof(code))
    return bool(libc.prctl(SET_SECCOMP, FILTER_MODE, program, 0, 0) == 0)
