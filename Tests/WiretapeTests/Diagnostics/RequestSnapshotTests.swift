import CassetteRedaction
import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct RequestSnapshotTests {
    private func text(
        _ method: String = "POST", _ url: String = "https://h.test/p", _ headers: HTTPSession.Headers = [:], _ body: RequestBody = .none
    ) throws -> String {
        HTTPSession.RequestSnapshot(TransportRequest(method: method, url: try url.asURL(), headers: headers, body: body)).description
    }

    private func body(_ type: String, _ text: String) throws -> String {
        let all = try self.text("POST", "https://h.test/p", ["Content-Type": type], .data(Data(text.utf8)))
        return try #require(all.range(of: "\n\n").map { String(all[$0.upperBound...]) })
    }

    @Test func headIsSortedWithoutMachineSpecificFields() throws {
        let headers: HTTPSession.Headers = [
            "X-B": "2", "User-Agent": "any", "accept-language": "ko", "Accept-Encoding": "br", "Content-Length": "0", "x-a": "1",
            "X-B": "1",
        ]
        #expect(
            try self.text("GET", "https://h.test/p?b=2&a=%EC%B4%88", headers)
                == "GET https://h.test/p?b=2&a=%EC%B4%88\nx-a: 1\nX-B: 2\nX-B: 1")
    }

    @Test func fieldsToLeaveOutAreTheCallers() throws {
        let request = TransportRequest(method: "GET", url: try "https://h.test/".asURL(), headers: ["X-Time": "1", "User-Agent": "mine"])
        #expect(HTTPSession.RequestSnapshot(request, leavingOut: ["x-time"]).description == "GET https://h.test/\nUser-Agent: mine")
    }

    @Test func jsonIsIndentedAndSorted() throws {
        #expect(
            try self.body("application/json", #"{"b":[1.50,{},[]],"a":{"z":null,"\u00e9":"\/\"\n\u0001"},"\ud800":true}"#) == """
                {
                  "\\ud800": true,
                  "a": {
                    "z": null,
                    "é": "/\\"\\n\\u0001"
                  },
                  "b": [
                    1.50,
                    {},
                    []
                  ]
                }
                """)
        #expect(try self.body("application/json", "{not json") == "{not json")
    }

    @Test func formHasALineForEachField() throws {
        #expect(try self.body("application/x-www-form-urlencoded", "name=%EC%B4%88+%EC%BD%94&tags%5B%5D=a&x") == "name=초 코\ntags[]=a\nx")
    }

    @Test func partsAreShownWithoutTheBoundary() throws {
        func snapshot(_ boundary: FormData.Boundary) throws -> String {
            var form = FormData(boundary: boundary)
            try form.append("초코", name: "name")
            form.append(Data(#"{"b":1,"a":2}"#.utf8), withName: "data", fileName: "\(boundary.text).json", mimeType: "application/json")
            form.append(Data([0xff, 0xd8, 0x00]), withName: "photo", fileName: "a.jpg", mimeType: "image/jpeg")
            let bytes = try form.encode().source.load()
            return try self.text("POST", "https://h.test/p", ["Content-Type": form.contentType], .data(Data(bytes)))
        }
        let text = try snapshot(.random())
        #expect(
            text == """
                POST https://h.test/p
                Content-Type: multipart/form-data; boundary={{boundary}}

                --{{boundary}}
                Content-Disposition: form-data; name="name"

                초코
                --{{boundary}}
                Content-Disposition: form-data; name="data"; filename="{{boundary}}.json"
                Content-Type: application/json

                {
                  "a": 2,
                  "b": 1
                }
                --{{boundary}}
                Content-Disposition: form-data; name="photo"; filename="a.jpg"
                Content-Type: image/jpeg

                <3 bytes, SHA-256 9ec23d79a7430da182d3a7b64c4d53e69a0512b3f0288cbf9cedaca5ab0792d3>
                --{{boundary}}--
                """)
        #expect(try snapshot(.random()) == text)
    }

    @Test func shortBoundaryReplacesNoOtherWord() throws {
        let form = "--name\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nboundary\r\n--name--\r\n"
        let text = try self.text("POST", "https://h.test/p", ["Content-Type": "multipart/form-data; boundary=name"], .data(Data(form.utf8)))
        #expect(text.contains("boundary={{boundary}}\n"))
        #expect(text.contains("; name=\"name\"\n\nboundary\n"))
    }

    @Test func secretsAreRedacted() throws {
        let headers: HTTPSession.Headers = ["Authorization": "Bearer s3cr3t-t0ken-1234", "Content-Type": "application/json"]
        let body = RequestBody.data(Data(#"{"password":"hunter2-hunter2"}"#.utf8))
        let text = try self.text("POST", "https://h.test/p?api_key=abcdef0123456789", headers, body)
        for secret in ["s3cr3t", "hunter2", "abcdef0123456789"] { #expect(!text.contains(secret)) }
        #expect(text.contains("Authorization: Bearer {{"))
        let request = TransportRequest(method: "GET", url: try "https://h.test/".asURL(), headers: headers)
        #expect(HTTPSession.RequestSnapshot(request, redaction: nil).description.contains("s3cr3t-t0ken-1234"))
    }

    @Test func fileIsReadAndStreamIsNot() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).txt")
        try Data("one\ntwo".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try self.text("PUT", "https://h.test/p", [:], .file(file, size: 7)) == "PUT https://h.test/p\n\none\ntwo")
        #expect(try self.text("PUT", "https://h.test/p", [:], .file(file, size: 1_000_001)) == "PUT https://h.test/p\n\n<1000001 bytes>")
        var request = URLRequest(url: try "https://h.test/p".asURL())
        request.httpMethod = "PUT"
        request.httpBodyStream = InputStream(data: Data("abc".utf8))
        #expect(try HTTPSession.RequestSnapshot(request).description == "PUT https://h.test/p\n\n<a body that cannot be read here>")
    }

    @Test func codedBodyIsShownDecoded() throws {
        // echo -n '{"b":1,"a":2}' | gzip -n
        let gzip = try #require(Data(base64Encoded: "H4sIAAAAAAACA6tWSlKyMtRRSlSyMqoFAFLSAxENAAAA"))
        let headers: HTTPSession.Headers = ["Content-Type": "application/json", "Content-Encoding": "gzip"]
        #expect(
            try self.text("POST", "https://h.test/p", headers, .data(gzip)) == """
                POST https://h.test/p
                Content-Encoding: gzip
                Content-Type: application/json

                {
                  "a": 2,
                  "b": 1
                }
                """)
        #expect(try self.text("POST", "https://h.test/p", headers, .data(gzip.prefix(20))).contains("\n\n<20 bytes, SHA-256 "))
    }
}
