// Package wiretape records and replays the HTTP traffic of tests.
//
//	func TestPets(t *testing.T) {
//		tape := wiretape.Start(t, wiretape.Options{Ignore: []string{"query:ts"}})
//		pets, err := shop.List(tape.Client())
//		…
//	}
//
// The cassette is testdata/cassettes/TestPets.json. It is recorded by the first run and replayed from then on. A request that was not
// recorded fails the test with the report. All packages that are tested at once and have the same folder share one "wiretape serve".
package wiretape

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const protocol = "1"

// Options of a session. The zero value records once, and replays from then on.
type Options struct {
	// Cassette is the name of the cassette without its folder; by default the name of the test.
	Cassette string
	// Mode is "none", "once", "new-episodes" or "all". WIRETAPE_MODE comes first. Default: "once", and "none" if CI is set.
	Mode string
	// Match, Ignore and Patterns are rules on when a request is the recorded one, as "query:ts".
	Match, Ignore, Patterns []string
	// FailOn is what fails a test: "miss", "unused", "order", "unsearched", or only "none". Default: "miss".
	FailOn []string
	// More has further members of POST /sessions by their names.
	More map[string]any
}

// Tape is the session of one test.
type Tape struct {
	// Env has the variables for programs that the test starts.
	Env map[string]string
	// Bundle is a PEM file of the roots to trust.
	Bundle string
	// Proxy is the proxy's URL with the session's credentials.
	Proxy     *url.URL
	transport *http.Transport
	id        string
}

// Error is a refusal by wiretape.
type Error struct{ Code, Message string }

func (e *Error) Error() string { return e.Message }

// Report is what a session has come to.
type Report struct {
	Exit    int
	Text    string
	Verdict map[string]int
}

// Start opens a session for the test, which ends with it and fails it if a request was not recorded.
func Start(t testing.TB, options Options) *Tape {
	t.Helper()
	tape, err := Open(t.Name(), options)
	if err != nil {
		t.Fatalf("wiretape: %v", err)
	}
	t.Cleanup(func() {
		report, err := tape.End(t.Failed())
		if err != nil {
			t.Errorf("wiretape: %v", err)
		} else if report.Exit != 0 {
			t.Errorf("wiretape: %s", report.Text)
		}
	})
	return tape
}

// Open opens a session for those who end it themselves. The label is shown in reports, and names the cassette if the options do not.
func Open(label string, options Options) (*Tape, error) {
	server, err := running()
	if err != nil {
		return nil, err
	}
	order := map[string]any{"folders": true, "owner": os.Getpid(), "mode": mode(options), "cassette": cassette(label, options)}
	if label != "" {
		order["label"] = label
	}
	rules := map[string]any{}
	for name, list := range map[string][]string{"match": options.Match, "ignore": options.Ignore, "patterns": options.Patterns} {
		if len(list) > 0 {
			rules[name] = list
		}
	}
	if len(rules) > 0 {
		order["rules"] = rules
	}
	if len(options.FailOn) > 0 {
		order["failOn"] = options.FailOn
	}
	for name, value := range options.More {
		order[name] = value
	}
	var session struct {
		ID, Proxy string
		Env       map[string]string
		Trust     map[string]string
	}
	if err := server.ask("POST", "/sessions", order, &session); err != nil {
		return nil, err
	}
	tape := &Tape{Env: session.Env, Bundle: session.Trust["bundle"], id: session.ID}
	if tape.Proxy, err = url.Parse(session.Proxy); err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	pem, err := os.ReadFile(tape.Bundle)
	if err != nil || !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("no roots in %q: %v", tape.Bundle, err)
	}
	// http.ProxyURL, unlike ProxyFromEnvironment, also leads requests to localhost through the proxy.
	tape.transport = &http.Transport{
		Proxy: http.ProxyURL(tape.Proxy), TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true,
	}
	return tape, nil
}

// Transport goes through the session, and trusts it.
func (tape *Tape) Transport() *http.Transport { return tape.transport }

// Client is an HTTP client with that transport.
func (tape *Tape) Client() *http.Client { return &http.Client{Transport: tape.transport} }

// End ends the session. After a failed test a new recording does not replace an older cassette.
func (tape *Tape) End(failed bool) (*Report, error) {
	tape.transport.CloseIdleConnections()
	server, err := running()
	if err != nil {
		return nil, err
	}
	path := "/sessions/" + tape.id
	if failed {
		path += "?failed=true"
	}
	report := &Report{}
	return report, server.ask("DELETE", path, nil, report)
}

func mode(options Options) string {
	for _, mode := range []string{os.Getenv("WIRETAPE_MODE"), options.Mode} {
		if mode != "" {
			return mode
		}
	}
	if os.Getenv("CI") != "" {
		return "none"
	}
	return "once"
}

// cassette is the file of a test: one for each, with subtests in folders.
func cassette(label string, options Options) string {
	name := options.Cassette
	if name == "" {
		var parts []string
		for _, part := range strings.Split(label, "/") {
			// A hidden part is refused; the percent sign keeps names apart that differ only here.
			part = strings.ReplaceAll(part, "%", "%25")
			if part == "" || part[0] == '.' {
				part = "%" + part
			}
			parts = append(parts, strings.NewReplacer("\\", "%5C", ":", "%3A").Replace(part))
		}
		name = strings.Join(parts, "/")
	}
	return strings.TrimSuffix(name, ".json") + ".json"
}

// server is "wiretape serve", which this process started or found.
type server struct {
	Control, Token, Protocol, Folder string
	// Open while this process lives: its end ends the server if nobody else uses it.
	input  io.WriteCloser
	client *http.Client
}

var (
	once    sync.Once
	started *server
	failure error
)

func running() (*server, error) {
	once.Do(func() { started, failure = start() })
	return started, failure
}

func start() (*server, error) {
	program := os.Getenv("WIRETAPE")
	if program == "" {
		program = "wiretape"
	}
	folder := os.Getenv("WIRETAPE_FOLDER")
	if folder == "" {
		folder = filepath.Join("testdata", "cassettes")
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	command := exec.Command(program, append([]string{"serve", "--share", "--folder", folder}, strings.Fields(os.Getenv("WIRETAPE_ARGUMENTS"))...)...)
	var problems bytes.Buffer
	input, _ := command.StdinPipe()
	output, _ := command.StdoutPipe()
	// A file of the buffer would keep go test waiting for the server: errors are read while it starts.
	problem, _ := command.StderrPipe()
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("cannot run %q (%w): install wiretape, or name it with WIRETAPE", program, err)
	}
	reading := make(chan struct{})
	go func() {
		io.Copy(&problems, problem)
		close(reading)
	}()
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err != nil {
		<-reading
		return nil, errors.New(strings.TrimSpace(problems.String()))
	}
	server := &server{input: input, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 2 * time.Minute}}
	if err := json.Unmarshal(line, server); err != nil {
		return nil, err
	}
	if server.Protocol != protocol {
		return nil, fmt.Errorf("%q speaks protocol %s, and this driver %s: update the older one", program, server.Protocol, protocol)
	}
	return server, nil
}

// ask sends one request to the control API.
func (server *server) ask(method, path string, order any, answer any) error {
	var body io.Reader
	if order != nil {
		text, err := json.Marshal(order)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, server.Control+path, body)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+server.Token)
	request.Header.Set("Content-Type", "application/json")
	response, err := server.client.Do(request)
	if err != nil {
		return fmt.Errorf("wiretape serve does not answer (%w): was its process ended?", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var refusal struct{ Error *Error }
	if err := json.Unmarshal(text, &refusal); err != nil {
		return err
	}
	if refusal.Error != nil {
		return refusal.Error
	}
	return json.Unmarshal(text, answer)
}
