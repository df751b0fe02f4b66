package wiretape

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// one is a case of ../cases; its README says what a driver does with it.
type one struct {
	What, Cassette, Refused string
	Order                   map[string]any
	Requests                []struct {
		URL    string
		Status int
		Body   *string
	}
	Failed bool
	Exit   int
	Text   []string
	Again  *one
}

func folder(t *testing.T) string {
	server, err := running()
	if err != nil {
		t.Fatal(err)
	}
	return server.Folder
}

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "wiretape")
	if err != nil {
		panic(err)
	}
	os.Setenv("WIRETAPE_FOLDER", folder)
	os.Unsetenv("CI")
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// origin answers GET /N with N, and counts.
func origin(t *testing.T) (*httptest.Server, *int) {
	count := 0
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		count++
		fmt.Fprint(writer, strings.TrimPrefix(request.URL.Path, "/"))
	}))
	t.Cleanup(server.Close)
	return server, &count
}

func fetch(t *testing.T, client *http.Client, url string) (int, string) {
	t.Helper()
	response, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func (one *one) play(t *testing.T, origin *httptest.Server, sub string) {
	order := map[string]any{}
	for name, value := range one.Order {
		order[name] = value
	}
	cassette := order["cassette"].(string)
	if one.Refused != "cassette-name" {
		cassette = sub + "/" + cassette
	}
	order["cassette"] = cassette
	tape, err := Open(one.What, Options{More: order})
	if one.Refused != "" {
		var refusal *Error
		if !errors.As(err, &refusal) || refusal.Code != one.Refused {
			t.Fatalf("%v is not %s", err, one.Refused)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range one.Requests {
		url := strings.ReplaceAll(request.URL, "http://ORIGIN", origin.URL)
		status, body := fetch(t, tape.Client(), url)
		if status != request.Status || request.Body != nil && body != *request.Body {
			t.Errorf("%s: %d %q", url, status, body)
		}
	}
	report, err := tape.End(one.Failed)
	if err != nil {
		t.Fatal(err)
	}
	if report.Exit != one.Exit {
		t.Errorf("exit %d is not %d: %s", report.Exit, one.Exit, report.Text)
	}
	for _, text := range one.Text {
		if !strings.Contains(report.Text, text) {
			t.Errorf("%q is not in %q", text, report.Text)
		}
	}
	if one.Again != nil {
		origin.Close()
		one.Again.play(t, origin, sub)
	}
}

func TestCases(t *testing.T) {
	paths, _ := filepath.Glob("../cases/*.json")
	if len(paths) == 0 {
		t.Fatal("there are no cases")
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var one one
			if err := json.Unmarshal(text, &one); err != nil {
				t.Fatal(err)
			}
			if one.Cassette != "" {
				bytes, err := os.ReadFile("../cases/cassettes/" + one.Cassette)
				if err != nil {
					t.Fatal(err)
				}
				target := filepath.Join(folder(t), name, one.Order["cassette"].(string))
				os.MkdirAll(filepath.Dir(target), 0o777)
				if err := os.WriteFile(target, bytes, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			server, _ := origin(t)
			one.play(t, server, name)
		})
	}
}

// failing notes what Start reports, instead of failing this test.
type failing struct {
	testing.TB
	name     string
	problems []string
	failed   bool
	cleanups []func()
}

func (f *failing) Helper()             {}
func (f *failing) Name() string        { return f.name }
func (f *failing) Failed() bool        { return f.failed }
func (f *failing) Cleanup(call func()) { f.cleanups = append(f.cleanups, call) }
func (f *failing) Errorf(format string, arguments ...any) {
	f.failed = true
	f.problems = append(f.problems, fmt.Sprintf(format, arguments...))
}
func (f *failing) finish() {
	for _, call := range f.cleanups {
		call()
	}
}

func TestParallelTestsRecordAndReplay(t *testing.T) {
	server, count := origin(t)
	run := func(t *testing.T) {
		t.Run("all", func(t *testing.T) {
			for number := 0; number < 20; number++ {
				number := number
				t.Run(fmt.Sprintf("pet %d", number), func(t *testing.T) {
					t.Parallel()
					tb := &failing{TB: t, name: fmt.Sprintf("Parallel/pet %d", number)}
					tape := Start(tb, Options{})
					if _, body := fetch(t, tape.Client(), fmt.Sprintf("%s/%d", server.URL, number)); body != fmt.Sprint(number) {
						t.Errorf("%q", body)
					}
					tb.finish()
					if tb.failed {
						t.Error(tb.problems)
					}
				})
			}
		})
	}
	run(t)
	if *count != 20 {
		t.Errorf("%d requests", *count)
	}
	server.Close()
	run(t)
	if _, err := os.Stat(filepath.Join(folder(t), "Parallel/pet 7.json")); err != nil {
		t.Error(err)
	}
}

func TestAMissFailsItsTestWithTheReport(t *testing.T) {
	server, _ := origin(t)
	for _, page := range []string{"1", "2"} {
		tb := &failing{TB: t, name: "Miss"}
		fetch(t, Start(tb, Options{}).Client(), server.URL+"/pets?page="+page)
		tb.finish()
		if page == "1" && tb.failed {
			t.Error(tb.problems)
		}
		if page == "2" && (len(tb.problems) != 1 || !strings.Contains(tb.problems[0], `query item is "page=2", recorded is "page=1"`)) {
			t.Error(tb.problems)
		}
	}
}

func TestNamesOfDifferentTestsDiffer(t *testing.T) {
	known := map[string]string{}
	for _, label := range []string{"A", "A/b", "A/%b", "A/.b", "A/%.b", "A/b:c", "A/b%3Ac", "A/.."} {
		name := cassette(label, Options{})
		if other, is := known[name]; is {
			t.Errorf("%q and %q are both %q", label, other, name)
		}
		known[name] = label
	}
}
