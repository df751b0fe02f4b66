"""Perl's LWP: get, post, mirror, redirects, cookies and a login."""
from harness import FileHandler

NEEDS = "/usr/share/perl5/LWP.pm:libwww-perl"
PASSWORD = "correct-horse-battery-7"

PROGRAM = r"""
use strict; use warnings; use LWP::UserAgent; use HTTP::Request::Common; use HTTP::Cookies;
my ($url, $order) = @ARGV;
my $agent = LWP::UserAgent->new(env_proxy => 1, keep_alive => 4, cookie_jar => HTTP::Cookies->new);
sub show { my ($name, $answer) = @_; print "$name ", $answer->code, " ", $answer->decoded_content // "", "\n"; }
show("get", $agent->get("$url/text.txt"));
show("form", $agent->post("$url/echo", { a => 1, b => "two words" }));
show("upload", $agent->request(POST "$url/echo", Content_Type => "form-data", Content => [ file => [ undef, "name.txt", Content => "content of a file" ] ]));
show("redirect", $agent->get("$url/redirect"));
show("cookie", $agent->get("$url/cookie"));
show("with cookie", $agent->get("$url/cookie"));
print "mirror ", $agent->mirror("$url/text.txt", "mirrored.txt")->code, "\n" for 1 .. 2;
my @ranges = ("0-4", "5-9", "10-");
my %ranges = map { $_ => $agent->get("$url/text.txt", Range => "bytes=$_") } $order eq "backward" ? reverse @ranges : @ranges;
show("range $_", $ranges{$_}) for @ranges;
print "head ", $agent->head("$url/text.txt")->header("Content-Length"), "\n";
$agent->credentials($url =~ s{^http://}{}r, "perl", "alice", $ENV{PASSWORD});
show("login", $agent->get("$url/login"));
show("missing", $agent->get("$url/missing"));
"""


class Origin(FileHandler):
    def do_GET(self):
        content = self.body().decode()
        if self.path == "/redirect":
            return self.answer(302, "", Location="/text.txt")
        if self.path == "/cookie":
            return self.answer(200, f"cookie {self.headers.get('Cookie')}", Set_Cookie="color=blue; Path=/")
        if self.path == "/login":
            if not self.headers.get("Authorization"):
                return self.answer(401, "log in", WWW_Authenticate='Basic realm="perl"')
            return self.answer(200, "you are in")
        if self.path == "/echo":
            return self.answer(200, content if "form-data" not in self.headers["Content-Type"] else "a file came")
        super().do_GET()

    do_POST = do_HEAD = do_GET


def run(lab):
    origin = lab.serve(Origin, files={"/text.txt": ("text/plain", b"the text of a file\n")})
    program = lab.write("program.pl", PROGRAM)
    lab.record("lwp", ["perl", program, origin, "forward"], replayed=["perl", program, origin, "backward"], environment={"PASSWORD": PASSWORD}, secrets=[(PASSWORD, "password")],
               expect=["mirror 304", "login 200 you are in", "with cookie 200 cookie color=blue", "range 5-9 206 ext o"])
    lab.replay()
