"""A clock for each process of the drill, which can be set. A C compiler makes it; without one, no clock is set.

A small library that is loaded before the C library adds an offset to the time of day. The monotonic clock stays right,
as it does if an operator sets the clock of a machine.
"""

import shutil
import struct
import subprocess
from pathlib import Path

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long *offset;  /* seconds */

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("DRILL_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  void *page = file < 0 ? MAP_FAILED : mmap(0, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
  if (page != MAP_FAILED) offset = page;
  if (file >= 0) close(file);
}

static long shift(void) { return offset ? *offset : 0; }

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*next)(clockid_t, struct timespec *);
  if (!next) next = dlsym(RTLD_NEXT, "clock_gettime");
  int failed = next(clock, now);
  if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += shift();
  return failed;
}

int gettimeofday(struct timeval *now, void *zone) {
  struct timespec time;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &time)) return -1;
  now->tv_sec = time.tv_sec;
  now->tv_usec = time.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *now) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  if (now) *now = time.tv_sec;
  return time.tv_sec;
}
"""


class Clocks:
    """The clocks of the processes, by name."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._library = folder / "clock.so"
        compiler = shutil.which("cc")
        if compiler is not None:
            (folder / "clock.c").write_text(SOURCE)
            command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(self._library), str(folder / "clock.c"), "-ldl"]
            subprocess.run(command, check=True)
        self.can_be_set = compiler is not None

    def variables(self, name: str) -> dict[str, str]:
        """Return the environment variables with which a process gets its clock."""
        if not self.can_be_set:
            return {}
        self.set(name, 0)
        return {"LD_PRELOAD": str(self._library.resolve()), "DRILL_CLOCK": str(self._path(name).resolve())}

    def set(self, name: str, seconds: int) -> None:
        """Let the clock of a process differ from the right time by so many seconds."""
        path = self._path(name)
        with path.open("r+b" if path.exists() else "w+b") as file:
            file.write(struct.pack("l", seconds))

    def _path(self, name: str) -> Path:
        return self._folder / f"clock-{name.replace(' ', '-')}"
