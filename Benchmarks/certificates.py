"""Makes the keys and certificates of a run with the `openssl` command, and the names they are for."""
import subprocess

NAMES = 200
ORIGIN = "origin.bench.test"
NUMBERED = "h%ld.bench.test"  # as the load client wants it: h0, h1, …


def hosts():
    """The text of a hosts file in which all the names are this machine."""
    names = ["localhost", ORIGIN] + [NUMBERED.replace("%ld", str(index)) for index in range(NAMES)]
    return "".join(f"127.0.0.1 {name}\n" for name in names)


def openssl(folder, *arguments):
    done = subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"openssl {arguments[0]} failed: {done.stderr.strip()[-300:]}")


def make(folder):
    """Writes ca.pem, the authority the origin is trusted by (RSA 2048), and its certificate origin.pem with origin.key (P-256)."""
    (folder / "names").write_text(f"subjectAltName=DNS:{ORIGIN},DNS:*.bench.test\n")
    openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=Bench-Origin-CA", "-keyout", "ca.key",
            "-out", "ca.pem", "-addext", "keyUsage=critical,keyCertSign,cRLSign", "-addext", "basicConstraints=critical,CA:true")
    openssl(folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={ORIGIN}",
            "-keyout", "origin.key", "-out", "origin.csr")
    openssl(folder, "x509", "-req", "-in", "origin.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "30",
            "-extfile", "names", "-out", "origin.pem")
    openssl(folder, "verify", "-CAfile", "ca.pem", "-verify_hostname", ORIGIN, "origin.pem")
