import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct CurlDescriptionTests {
    private func command(_ method: String, _ url: String = "https://h/p", _ headers: HTTPHeaders = [:], _ body: RequestBody = .none) throws
        -> String
    {
        CurlDescription(TransportRequest(method: method, url: try url.asURL(), headers: headers, body: body)).command
    }

    @Test func commands() throws {
        #expect(try self.command("GET") == "curl \\\n  'https://h/p'")
        #expect(try self.command("HEAD") == "curl \\\n  --head \\\n  'https://h/p'")
        #expect(try self.command("POST") == "curl \\\n  -X 'POST' \\\n  'https://h/p'")
        #expect(
            try self.command(
                "POST", "https://h/p", ["Content-Type": "application/json", "X-Empty": "", "Content-Length": "7"],
                .data(Data("{\"a\":1}".utf8)))
                    == """
                    curl \\
                      -H 'Content-Type: application/json' \\
                      -H 'X-Empty;' \\
                      --data-raw '{"a":1}' \\
                      'https://h/p'
                    """)
        #expect(
            try self.command("PUT", "https://h/../a?k[]=1", ["Accept-Encoding": "br"], .file(URL(fileURLWithPath: "/tmp/f"), size: 1))
                == """
                curl \\
                  -X 'PUT' \\
                  -H 'Accept-Encoding: br' \\
                  -H 'Content-Type:' \\
                  --compressed \\
                  --data-binary '@/tmp/f' \\
                  --path-as-is \\
                  'https://h/../a?k%5B%5D=1'
                """)
    }

    @Test func secretsAreTakenOut() throws {
        let headers: HTTPHeaders = [
            "Authorization": "Bearer abcdefghijklmnop", "Cookie": "session=qrstuvwxyz", "Content-Type": "application/json",
        ]
        let body = RequestBody.data(Data("{\"password\":\"hunter2hunter2\",\"again\":\"abcdefghijklmnop\"}".utf8))
        let request = TransportRequest(method: "POST", url: try "https://h/p?token=ABCDEFGH&x=1".asURL(), headers: headers, body: body)
        let hidden = CurlDescription(request).command
        for secret in ["abcdefghijklmnop", "qrstuvwxyz", "hunter2hunter2", "ABCDEFGH"] { #expect(!hidden.contains(secret), "\(hidden)") }
        #expect(hidden.contains("--globoff") && hidden.contains("x=1"))
        let shown = CurlDescription(request, redaction: nil).command
        for secret in ["abcdefghijklmnop", "qrstuvwxyz", "hunter2hunter2", "ABCDEFGH"] { #expect(shown.contains(secret)) }
    }

    @Test func secretsInAFormAreTakenOut() throws {
        var form = MultipartFormData()
        try form.append("choco", name: "name")
        try form.append("hunter2hunter2", name: "password")
        let request = TransportRequest(method: "POST", url: try "https://h/p".asURL(), headers: ["Content-Type": form.contentType])
        let command = CurlDescription(request, form: form).command
        #expect(command.contains("--form-string 'name=choco'") && command.contains("--form-string 'password={{"))
        #expect(!command.contains("hunter2") && !command.contains("boundary"))
        #expect(CurlDescription(request, form: form, redaction: nil).command.contains("'password=hunter2hunter2'"))
        // With a part that curl has no argument for, the whole body is written.
        try form.append([0xFF], name: "b", fileName: "c")
        let encoded = CurlDescription(request, form: form, redaction: nil).command
        #expect(encoded.hasPrefix("printf '%s' '") && encoded.contains("base64 -d | curl") && encoded.contains("boundary"))
    }

    @Test func notesSayWhatTheCommandDoesNot() throws {
        var request = try URLRequest(url: "https://h/p", method: .post)
        request.httpBodyStream = InputStream(data: Data([1]))
        #expect(
            CurlDescription(request).notes == [
                "the body is a stream, which can be read only once: save it to a file and add --data-binary @FILE"
            ])
        #expect(CurlDescription(request).description.hasPrefix(": 'the body is a stream"))
        request.url = nil
        #expect(CurlDescription(request).notes == ["the request has no URL: set one"])
        let large = TransportRequest(method: "POST", url: try "https://h/".asURL(), body: .data(Data(count: 1_000_001)))
        #expect(CurlDescription(large).notes == ["the body has 1000001 bytes: save it as \"body\""])
        let unseen = TransportRequest(method: "POST", url: try "https://h/".asURL(), body: .unobservable)
        #expect(CurlDescription(unseen).notes.first?.hasSuffix("add --data-binary @FILE") == true)
        let broken = TransportRequest(method: "GET", url: try "https://h/".asURL(), headers: ["A": "1\r\nB: 2", "C": "3"])
        #expect(CurlDescription(broken).command == "curl \\\n  -H 'C: 3' \\\n  'https://h/'")
        #expect(CurlDescription(broken).notes.first?.hasSuffix("control character: \"A\"") == true)
        let head = TransportRequest(method: "HEAD", url: try "https://h/".asURL(), body: .data(Data([1])))
        #expect(CurlDescription(head).notes == ["curl sends no body with HEAD: it is left out"])
    }

    @Test func aRequestBeforeItGoesOutIsDescribedToo() throws {
        var request = try URLRequest(url: "https://h/p", method: .patch, headers: ["X-A": "it's"])
        request.httpBody = Data("x".utf8)
        let command = CurlDescription(request).command
        #expect(
            command == "curl \\\n  -X 'PATCH' \\\n  -H 'X-A: it'\\''s' \\\n  -H 'Content-Type:' \\\n  --data-raw 'x' \\\n  'https://h/p'")
    }
}
