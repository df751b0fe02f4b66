"""svn and cadaver with a Digest login at Apache: checkout, update, log, commit; WebDAV."""
import grp
import hashlib
import os
import pwd
import shutil
import subprocess

from harness import free_port

NEEDS = "svn:subversion cadaver:cadaver apache2:apache2 /usr/lib/apache2/modules/mod_dav_svn.so:libapache2-mod-svn curl:curl"

APACHE = """
ServerRoot {folder}/apache
ServerName 127.0.0.1
PidFile {folder}/apache/pid
DefaultRuntimeDir {folder}/apache
Mutex file:{folder}/apache
ErrorLog {folder}/apache/error.log
Listen 127.0.0.1:{port}
User {user}
Group {group}
{modules}
DavLockDB {folder}/apache/locks
DocumentRoot {folder}/apache/empty
TypesConfig /etc/mime.types
<Location /svn>
  DAV svn
  SVNParentPath {folder}/repositories
</Location>
<Location /private>
  DAV svn
  SVNParentPath {folder}/repositories
  AuthType Digest
  AuthName "wiretape"
  AuthDigestProvider file
  AuthUserFile {folder}/apache/users
  Require valid-user
</Location>
Alias /dav {folder}/dav
<Directory {folder}/dav>
  DAV on
  AuthType Digest
  AuthName "wiretape"
  AuthDigestProvider file
  AuthUserFile {folder}/apache/users
  Require valid-user
</Directory>
"""
MODULES = ["mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_digest", "mime", "alias", "dav", "dav_fs", "dav_svn"]
PASSWORD = "correct-horse-battery-7"


def run(lab):
    port = free_port()
    origin = f"http://127.0.0.1:{port}"
    start_apache(lab, port)

    # svn reads no variable: the proxy's address comes from the one that wiretape sets.
    svn = ("hostport=${http_proxy#http://}\n"
           "svn() { command svn --non-interactive --no-auth-cache --config-option servers:global:http-proxy-host=${hostport%:*} "
           "--config-option servers:global:http-proxy-port=${hostport#*:} \"$@\"; }\n")
    login = f"--username alice --password {PASSWORD}"
    work = """
svn checkout -q {login} {url}/trunk work
svn log -v {login} {url}/trunk
svn list -v {login} {url}/trunk
svn cat {login} -r 1 {url}/trunk/readme.txt
cd work
printf 'changed\\n' >>readme.txt
printf 'new\\n' >new.txt
svn add -q new.txt
svn propset -q color blue readme.txt
svn commit {login} -m 'change the readme'
svn update {login}
svn log {login} -v
svn diff {login} -r 1:HEAD
cd ..
svn copy -q {login} -m 'branch' {url}/trunk {url}/branches/one
svn checkout {login} {url}/branches/one branch
svn propget {login} color branch/readme.txt
svn info --show-item last-changed-revision {login} {url}/trunk
"""
    # svn writes the attributes of its XML in another order in each run, so bodies cannot be compared: the order of the requests decides.
    for name, path, auth in [("svn", "svn", ""), ("svn-digest", "private", login)]:
        url = f"{origin}/{path}/{name}"
        lab.record(name, svn + work.format(url=url, login=auth), normalize=working_copy, options=["--ignore", "body"],
                   expect=["Committed revision 3", "Checked out revision 4"])
    url = f"{origin}/private/wrong"
    lab.record("svn-wrong-password", svn + f"svn list --username alice --password wrong-password-1 {url}/trunk", exit=1, normalize=working_copy)

    # cadaver asks for nothing if .netrc knows the login; its rc file has the commands' settings.
    def netrc(run):
        (run / "local.txt").write_text("a local file\n")
        home = lab.path("home", ".netrc")
        home.write_text(f"machine 127.0.0.1\nlogin alice\npassword {PASSWORD}\n")
        home.chmod(0o600)
        (run / "commands").write_text("ls\nmkcol folder\nput local.txt folder/put.txt\nls folder\nget folder/put.txt got.txt\n"
                                      "copy folder/put.txt folder/copy.txt\nmove folder/copy.txt moved.txt\npropset moved.txt color blue\n"
                                      "propget moved.txt color\nlock moved.txt\nunlock moved.txt\ncat moved.txt\ndelete moved.txt\nls\nquit\n")
    lab.record("cadaver", f"hostport=${{http_proxy#http://}}\ncadaver -p $hostport {origin}/dav/ <commands", setup=netrc, secrets=[(PASSWORD, "password")],
               expect=["Listing collection", "a local file", "Value of color"])
    curl = [f"curl -sS --digest -u alice:{PASSWORD} -X PROPFIND -H 'Depth: {depth}' -o depth{depth} {origin}/dav/" for depth in (0, 1)]
    lab.record("propfind", "\n".join(curl), replayed="\n".join(reversed(curl)))
    lab.replay()


def start_apache(lab, port):
    user, group = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(os.getgid()).gr_name
    # Apache does not serve as root: as root it changes to the user that its package made, who has to reach the folder.
    if os.getuid() == 0:
        user = group = "www-data"
    for folder in ("apache/empty", "repositories", "dav"):
        lab.path(folder).mkdir(parents=True)
    digest = hashlib.md5(f"alice:wiretape:{PASSWORD}".encode()).hexdigest()
    lab.write("apache/users", f"alice:wiretape:{digest}\n")
    lab.write("dav/first.txt", "the first file\n")
    for name in ["svn", "svn-digest", "wrong"]:
        create_repository(lab, name)
    modules = "\n".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in MODULES)
    config = lab.write("apache.conf", APACHE.format(folder=lab.folder, port=port, user=user, group=group, modules=modules))
    if os.getuid() == 0:
        lab.folder.chmod(0o755)
        for folder in ("apache", "repositories", "dav"):
            give(lab.path(folder), user)
    lab.start("apache", ["apache2", "-f", config, "-DFOREGROUND"], port)


def give(folder, user):
    for path in [folder, *folder.rglob("*")]:
        shutil.chown(path, user, user)


def create_repository(lab, name):
    repository, content = lab.path("repositories", name), lab.path("import", name)
    (content / "trunk" / "sub").mkdir(parents=True)
    (content / "branches").mkdir()
    (content / "trunk" / "readme.txt").write_text("first line\n")
    (content / "trunk" / "sub" / "large.txt").write_text("".join(f"line {n}\n" for n in range(5000)))
    for command in (["svnadmin", "create", repository],
                    ["svn", "import", "-q", "-m", "import", content, f"file://{repository}"],
                    ["svn", "mkdir", "-q", "-m", "folder", f"file://{repository}/trunk/made"]):
        subprocess.run([str(word) for word in command], env=lab.environment, check=True, timeout=60)


def working_copy(name, content):
    """Without the database of the working copy, which has times of files in it."""
    return None if ".svn/" in name or name.endswith("wc.db") else content
