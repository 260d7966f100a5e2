"""Throw-away certificates, and the authorities that clients are told to trust."""
import functools
import os
import shutil
import subprocess
from pathlib import Path

from .machine import fail, output_of

SYSTEM_FOLDER = Path("/etc/ssl/certs")
BUNDLE = "ca-certificates.crt"
KEYS = {"ec": ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], "rsa": ["rsa:2048"]}
ADDRESSES = [f"127.0.0.{number}" for number in range(1, 9)]  # more than one, because ports run out


def make_certificate(folder, key):
    names = ",".join(["DNS:localhost", *(f"IP:{address}" for address in ADDRESSES)])
    command = ["openssl", "req", "-x509", "-newkey", *KEYS[key], "-nodes", "-days", "30",
               "-subj", f"/CN={key}.localhost", "-keyout", folder / f"{key}.key", "-out", folder / f"{key}.crt",
               "-addext", f"subjectAltName={names}",
               # rustls takes no authority for a server's certificate, even if it is told to trust that one.
               "-addext", "basicConstraints=critical,CA:FALSE",
               "-addext", "keyUsage=critical,digitalSignature,keyCertSign", "-addext", "extendedKeyUsage=serverAuth"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"openssl cannot make a certificate: {done.stderr.strip()[-300:]}")


class Trust:
    """Two folders like /etc/ssl/certs for each of the server's certificates: it alone, and it beside the system's."""

    def __init__(self, folder):
        self.folder = folder
        for key in KEYS:
            make_certificate(folder, key)

    def store(self, key, roots):
        store = self.folder / f"trust-{key}-{roots}"
        if not store.exists():
            self.fill(store, key, roots)
        return store

    def bundle(self, key, roots):
        return self.store(key, roots) / BUNDLE

    def fill(self, store, key, roots):
        store.mkdir()
        certificate = (self.folder / f"{key}.crt").read_text()
        (store / f"bench-{key}.pem").write_text(certificate)
        others = ""
        if roots == "many":
            others = (SYSTEM_FOLDER / BUNDLE).read_text() if (SYSTEM_FOLDER / BUNDLE).exists() else ""
            for file in SYSTEM_FOLDER.glob("*.pem"):
                shutil.copyfile(file, store / file.name)
        output_of("openssl", "rehash", str(store))  # before the bundle, which is no single certificate
        (store / BUNDLE).write_text(others + certificate)


@functools.cache
def own_system(store):
    """The start of a command that runs in a file system where `store` is the system's trust; nothing else sees it.

    None where the kernel or our rights do not allow that.
    """
    namespace = ["unshare", "--mount", "--propagation", "private"]
    if os.geteuid() != 0:
        namespace.insert(1, "--map-root-user")
    prefix = [*namespace, "sh", "-c", f'mount --bind "$0" {SYSTEM_FOLDER} && exec "$@"', str(store)]
    works = subprocess.run([*prefix, "true"], capture_output=True).returncode == 0
    return prefix if works else None
