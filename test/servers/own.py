"""What a test's own servers share: a folder, a user to run as, a log, a beginning and an end."""
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time

START_SECONDS = 60


def other_user(names):
    """Whom to run as when we are root."""
    for name in names:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    sys.exit(f"none of the users {', '.join(names)} is there to run the server as")


class OwnServer:
    """Real, private, gone afterwards. A subclass says how it is started and how one sees that it is up."""

    NAME = None  # of the folder, and for people
    USERS = ("nobody",)  # whom to run as when we are root; the first there is
    SETTINGS = {}
    DEATH_SIGNAL = "KILL"  # what it gets when the test is killed
    LOOK_SECONDS = 0.02

    def __init__(self, settings=None, folder=None):
        self.settings = {**self.SETTINGS, **(settings or {})}
        self.is_ours = folder is None
        parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = folder or tempfile.mkdtemp(prefix=f"abide-{self.NAME}-", dir=parent)
        self.user = other_user(self.USERS) if os.geteuid() == 0 else None
        self.process = None
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        os.chmod(self.folder, 0o755)

    def as_user(self, arguments):
        """setpriv also ends the server when the test is killed."""
        privileges = [] if not self.user else [
            "--reuid", str(self.user.pw_uid), "--regid", str(self.user.pw_gid), "--clear-groups"]
        return ["setpriv", *privileges, "--pdeathsig", self.DEATH_SIGNAL, *arguments]

    def launch(self, arguments):
        self.log = open(os.path.join(self.folder, "log"), "ab")
        self.process = subprocess.Popen(self.as_user(arguments), stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log, cwd=self.folder)
        end = time.monotonic() + START_SECONDS
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > end:
                with open(self.log.name, "rb") as log:
                    sys.stderr.buffer.write(log.read())
                raise RuntimeError(f"{self.NAME} did not come up")
            time.sleep(self.LOOK_SECONDS)
        return self

    def start(self):
        raise NotImplementedError

    def is_ready(self):
        raise NotImplementedError

    def ask_to_stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.ask_to_stop()

    def kill(self):
        """As a power failure, except that what was written stays."""
        self.process.kill()
        self.process.wait()

    def restart(self):
        self.stop()
        self.start()

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.stop()
        if self.is_ours:
            shutil.rmtree(self.folder, ignore_errors=True)
