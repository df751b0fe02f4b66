"""Starts, watches and stops the measured programs; reads their figures from /proc."""
import os
import pathlib
import signal
import socket
import subprocess
import time

# The subject has the first core to itself; the origin and the load client share the second.
CORES = sorted(os.sched_getaffinity(0))
SUBJECT_CORE, LOAD_CORE = CORES[0], CORES[-1]
TICKS = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def accepts(port):
    with socket.socket() as client:
        client.settimeout(1)
        return client.connect_ex(("127.0.0.1", port)) == 0


def established(port):
    """How many connections the listener of a port has open."""
    lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
    return sum(1 for line in lines if line.split()[1].endswith(":%04X" % port) and line.split()[3] == "01")


def tree(pid):
    """A process and its descendants (nginx works in a child)."""
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = pathlib.Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(name))
    found = [pid]
    for parent in found:
        found += children.get(parent, [])
    return found


class Process:
    """One program, pinned to a core, ready when its port accepts."""

    def __init__(self, command, port, core, folder, patience=20):
        self.port, self.log = port, pathlib.Path(folder, "output.log")
        everywhere = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {core})  # inherited by the child, without the cost of a taskset in between
        begun = time.perf_counter()
        try:
            with open(self.log, "wb") as output:
                self.child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output,
                                              stderr=subprocess.STDOUT, start_new_session=True)
        finally:
            os.sched_setaffinity(0, everywhere)
        try:
            while not accepts(port):
                if self.child.poll() is not None or time.perf_counter() - begun > patience:
                    raise RuntimeError(f"{command[0]} did not start: {self.log.read_text(errors='replace')[-400:]}")
                time.sleep(0.0005)
        except BaseException:  # an interrupt too: nothing may stay behind
            self.stop(5)
            raise
        self.start_ms = (time.perf_counter() - begun) * 1000

    def cpu(self):
        """CPU seconds of the process tree so far."""
        total = 0
        for pid in tree(self.child.pid):
            try:
                fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            total += (int(fields[11]) + int(fields[12])) / TICKS
        return total

    def settled_cpu(self):
        """CPU seconds once the process has been idle for a moment: work put off until after the traffic counts too."""
        last, limit = self.cpu(), time.monotonic() + 10
        while time.monotonic() < limit:
            time.sleep(0.25)
            now = self.cpu()
            if now - last < 0.015:
                return now
            last = now
        return last

    def memory(self):
        """MiB: the proportional share of the tree's pages, their resident size, and the peak of that since the last reset."""
        share = resident = peak = 0
        for pid in tree(self.child.pid):
            try:
                rollup = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
                status = pathlib.Path(f"/proc/{pid}/status").read_text()
            except OSError:
                continue
            share += int(rollup.partition("\nPss:")[2].split()[0]) / 1024
            resident += int(status.partition("\nVmRSS:")[2].split()[0]) / 1024
            peak += int(status.partition("\nVmHWM:")[2].split()[0]) / 1024
        return share, resident, peak

    def reset_peak(self):
        for pid in tree(self.child.pid):
            pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")

    def stop(self, patience=60):
        """Ends the program as a person would; gives the seconds that took and the exit code. `stop_cpu` are its CPU seconds meanwhile."""
        before = self.cpu() if self.child.poll() is None else 0
        begun = time.perf_counter()
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
            deadline = begun + patience
            while os.waitid(os.P_PID, self.child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                if time.perf_counter() > deadline:
                    self.child.kill()
                time.sleep(0.0005)
            seconds = time.perf_counter() - begun
            # A program that has ended keeps its times until it is waited for.
            self.stop_cpu = self.cpu() - before
            self.child.wait()
            self.kill_rest()
            return seconds, self.child.returncode
        return 0, self.child.returncode

    def kill_rest(self):
        """What a program that ended badly left behind in its session."""
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
