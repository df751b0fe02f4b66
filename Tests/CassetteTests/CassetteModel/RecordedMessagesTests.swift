@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes
import Testing

@Suite struct HTTPVersionTests {
    @Test func theTextIsTheOneOfAStartLine() {
        #expect("\(HTTPVersion.http10)" == "HTTP/1.0")
        #expect("\(HTTPVersion.http11)" == "HTTP/1.1")
    }

    @Test func theMajorNumberGoesBeforeTheMinorOne() {
        let ascending = [HTTPVersion(major: 0, minor: 9), .http10, .http11, HTTPVersion(major: 2, minor: 0)]
        #expect(ascending.reversed().sorted() == ascending)
        #expect(!(HTTPVersion.http11 < .http11))
    }
}

@Suite struct RecordedResponseDecodedTests {
    private let received = HeaderFields([
        "Content-Type: text/plain", "content-length: 63", "Content-Encoding: gzip", "Content-Digest: sha-256=:abc=:", "ETag: \"1\"",
    ])

    @Test func theFieldsOfCodedBytesStepAside() {
        var response = RecordedResponse(status: 200, headers: self.received)
        response.bodyWasDecoded(size: 900)
        #expect(response.headers.lines == ["Content-Type: text/plain", "content-length: 900", "ETag: \"1\""])
        #expect(response.codedHeaders?.lines == ["content-length: 63", "Content-Encoding: gzip", "Content-Digest: sha-256=:abc=:"])
        #expect(
            response.receivedHeaders.lines == [
                "Content-Type: text/plain", "ETag: \"1\"", "content-length: 63", "Content-Encoding: gzip", "Content-Digest: sha-256=:abc=:",
            ])
        let once = response
        response.bodyWasDecoded(size: 1)
        #expect(response == once)
    }

    @Test func aCutBodyHasNoLengthThatFitsAndChunksInItsPlace() {
        var response = RecordedResponse(status: 200, headers: self.received)
        response.bodyWasDecoded(size: nil)
        #expect(response.headers.lines == ["Content-Type: text/plain", "Transfer-Encoding: chunked", "ETag: \"1\""])
        #expect(!response.receivedHeaders.contains("transfer-encoding"))
        #expect(response.receivedHeaders.count == self.received.count)
    }

    @Test func aChunkedAnswerStaysChunked() {
        let fields = ["Transfer-Encoding: chunked", "Content-Encoding: br"]
        for size in [7, nil] {
            var response = RecordedResponse(status: 200, headers: HeaderFields(fields))
            response.bodyWasDecoded(size: size)
            #expect(response.headers.lines == ["Transfer-Encoding: chunked"])
            #expect(response.receivedHeaders.lines == fields)
        }
    }

    @Test func withoutACodingNothingChanges() {
        var response = RecordedResponse(status: 200, headers: HeaderFields(["Content-Length: 3", "Content-MD5: x"]))
        response.bodyWasDecoded(size: 3)
        #expect(response.codedHeaders == nil)
        #expect(response.receivedHeaders.lines == ["Content-Length: 3", "Content-MD5: x"])
    }

    @Test func theyAreWrittenAndReadAgain() throws {
        var interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://a.test/"))
        var response = RecordedResponse(status: 200, headers: self.received, body: Body(size: 2, content: .text(Array("hi".utf8))))
        response.bodyWasDecoded(size: 2)
        interaction.response = response
        var writer = JSONWriter()
        InteractionEncoder.encode(interaction, into: &writer)
        #expect(String(decoding: writer.bytes, as: UTF8.self).contains("\"codedHeaders\": ["))
        #expect(try InteractionDecoder.decode(writer.bytes, at: .textAlone) == interaction)
    }
}
