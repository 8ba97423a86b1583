"""Real servers on this machine: Dovecot with a mailbox, and certificates made for the occasion."""

import grp
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PASSWORD = "s3cret-pass word"
USERNAME = "ada"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy of the machine stands between a test and its server."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A self-made certificate for this machine."""

    cert: Path
    key: Path


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """For 127.0.0.1 and localhost; a test that needs it is skipped where openssl is missing."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl on this machine: `make mailserver` installs it")
    folder = tmp_path_factory.mktemp("tls")
    made = Certificate(folder / "cert.pem", folder / "key.pem")
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", str(made.key), "-out", str(made.cert)]
    subprocess.run([*command.split(), *names], check=True, capture_output=True)
    return made


@dataclass(frozen=True, slots=True)
class ImapServer:
    """A Dovecot with one account, and its mailbox."""

    plain_port: int
    tls_port: int
    ca_file: Path
    maildir: Path
    log: Path
    owner: str

    def deliver(self, name: str, message: bytes) -> None:
        """Put a message into the mailbox, as unread as its name says; its time is the one that the name begins with."""
        folder = self.maildir / ("cur" if ":2," in name else "new")
        path = self.maildir / "tmp" / name
        path.write_bytes(message)
        at = int(name.partition(".")[0])
        os.utime(path, (at, at))
        if os.getuid() == 0:
            shutil.chown(path, self.owner)
        path.rename(folder / name)

    def list_names(self) -> list[str]:
        """The names of all messages, which hold their flags."""
        return sorted(
            f"{path.parent.name}/{path.name}" for it in ("new", "cur") for path in (self.maildir / it).iterdir()
        )


def _find_dovecot() -> str:
    path = shutil.which("dovecot") or shutil.which("dovecot", path="/usr/sbin:/usr/local/sbin")
    if path is None:
        pytest.skip("no dovecot on this machine: `make mailserver` installs it")
    return path


def _take_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [it.getsockname()[1] for it in sockets]
    for it in sockets:
        it.close()
    return ports


def _configure(folder: Path, certificate: Certificate, plain_port: int, tls_port: int, owner: str) -> Path:
    """A configuration that touches nothing outside its folder; as root its processes run as an ordinary user."""
    user = pwd.getpwnam(owner)
    workers = ("dovenull", "dovecot") if os.getuid() == 0 else (owner, owner)
    group = grp.getgrgid(user.pw_gid).gr_name if os.getuid() else "dovecot"
    (folder / "users").write_text(f"{USERNAME}:{{PLAIN}}{PASSWORD}\n", "utf-8")
    path = folder / "dovecot.conf"
    path.write_text(
        f"""
protocols = imap
listen = 127.0.0.1
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/log
instance_name = everfold-test
default_login_user = {workers[0]}
default_internal_user = {workers[1]}
default_internal_group = {group}
ssl = yes
ssl_cert = <{certificate.cert}
ssl_key = <{certificate.key}
disable_plaintext_auth = no
auth_mechanisms = plain
first_valid_uid = {user.pw_uid}
mail_location = maildir:{folder}/mail
mail_privileged_group =
passdb {{
  driver = passwd-file
  args = scheme=plain username_format=%u {folder}/users
}}
userdb {{
  driver = static
  args = uid={user.pw_uid} gid={user.pw_gid} home={folder}
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {plain_port}
  }}
  inet_listener imaps {{
    port = {tls_port}
    ssl = yes
  }}
}}
service anvil {{
  chroot =
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
auth_failure_delay = 0
""",
        "utf-8",
    )
    return path


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until and process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
                if client.recv(4) == b"* OK":
                    return
        except OSError:
            pass
        time.sleep(0.02)
    pytest.fail(f"dovecot did not begin: {log.read_text('utf-8') if log.exists() else process.poll()}")


@pytest.fixture(scope="session")
def imap_server(certificate: Certificate) -> Iterator[ImapServer]:
    """A real IMAP server on 127.0.0.1, with and without TLS; a test that needs it is skipped where it is missing."""
    dovecot = _find_dovecot()
    owner = "mail" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
    with tempfile.TemporaryDirectory(prefix="everfold-imap-") as name:  # short: sockets have short paths
        folder = Path(name)
        folder.chmod(0o755)
        for part in ("", "cur", "new", "tmp"):
            (folder / "mail" / part).mkdir()
            if os.getuid() == 0:
                shutil.chown(folder / "mail" / part, owner, owner)
        plain_port, tls_port = _take_ports(2)
        config = _configure(folder, certificate, plain_port, tls_port, owner)
        server = ImapServer(plain_port, tls_port, certificate.cert, folder / "mail", folder / "log", owner)
        process = subprocess.Popen(
            [dovecot, "-F", "-c", str(config)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            _wait_for(plain_port, process, server.log)
            yield server
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


Compose = Callable[..., bytes]


@pytest.fixture(scope="session")
def compose() -> Compose:
    """Writes a message: its headers by name (underscores for hyphens), and its body."""

    def write(body: str = "Hello.", **headers: str) -> bytes:
        given = {"From": "Kim Berg <kim@example.org>", "Subject": "Hello", "Date": "Sat, 21 Nov 2026 10:00:00 +0100"}
        given |= {"MIME-Version": "1.0", "Content-Type": "text/plain; charset=utf-8"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        head = "".join(f"{name}: {value}\r\n" for name, value in given.items())
        return f"{head}\r\n{body}".encode()

    return write
