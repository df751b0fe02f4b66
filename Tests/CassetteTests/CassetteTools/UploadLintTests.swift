import CassetteModel
@testable import CassetteTools
import Foundation
import TapeBytes
import TapeTestSupport
import Testing

/// Uploads of real clients, collected by Uploads/collect.py: lint names each mistake, and accuses no good one.
@Suite struct UploadLintTests {
    struct Upload: Decodable, Sendable, CustomTestStringConvertible {
        var name: String
        var expects: [String]
        var request: Data

        var testDescription: String { self.name }
    }

    static let all: [Upload] = {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let data = try? Data(contentsOf: folder.appendingPathComponent("Uploads/uploads.json"))
        return data.flatMap { try? JSONDecoder().decode([Upload].self, from: $0) } ?? []
    }()

    /// The header fields and the body of a request, chunked or not, as a recorder would have them.
    static func lint(_ request: [UInt8], server: UploadServer? = nil) throws -> BodyLint? {
        let end = try #require(request.indices.first { request[$0...].starts(with: [13, 10, 13, 10]) })
        var headers = HeaderFields()
        for line in request[..<end].split(separator: 10).dropFirst() { headers.append(line: line.last == 13 ? line.dropLast() : line) }
        var body = Array(request[(end + 4)...])
        if headers.contains("transfer-encoding") { body = Self.unchunked(body) }
        let announced = headers.first("content-length").flatMap { Int($0) } ?? body.count
        let recorded = Body(
            size: body.count, isComplete: body.count >= announced, content: body.isEmpty ? .empty : .binary(body))
        return try BodyLint(BodyContents(body), headers: headers, BodyLint.Context(side: .request, body: recorded, server: server))
    }

    private static func unchunked(_ bytes: [UInt8]) -> [UInt8] {
        var (rest, body) = (bytes[...], [UInt8]())
        while let end = rest.firstIndex(of: 10), let size = Int(String(decoding: rest[..<end].dropLast(), as: UTF8.self), radix: 16),
            size > 0
        {
            body += rest[(end + 1)..<(end + 1 + size)]
            rest = rest[(end + 3 + size)...]
        }
        return body
    }

    @Test func thereAreEnough() {
        #expect(Self.all.filter { !$0.expects.isEmpty }.count >= 120)
        #expect(Self.all.filter { $0.expects.isEmpty }.count >= 70)
    }

    @Test(arguments: Self.all) func eachIsNamedRight(_ upload: Upload) throws {
        let kinds = try Self.lint(Array(upload.request))?.findings.map(\.kind) ?? []
        if upload.expects.isEmpty { #expect(kinds == []) } else { #expect(Set(upload.expects).isSubset(of: kinds)) }
    }

    @Test func whatToWriteIsADiff() throws {
        let upload = try #require(Self.all.first { $0.name == "requests with a form sent as JSON" })
        let change = try #require(try Self.lint(Array(upload.request))?.findings.first?.change)
        #expect(change.lines.first == "- Content-Type: application/json")
        #expect(change.lines.last?.hasPrefix("+ Content-Type: multipart/form-data; boundary=") == true)
        let feed = try #require(Self.all.first { $0.name == "curl with a body of LF" })
        let bytes = try #require(try Self.lint(Array(feed.request))?.findings.first?.change)
        #expect(bytes.lines.map { $0.suffix(9) } == ["on…    0a", "   0d 0a"].map { $0[...] } || bytes.inserted == [13, 10])
        #expect(bytes.removed == [10])
    }

    @Test func aServersLimitsAreCheckedIfItIsNamed() throws {
        var body: [UInt8] = []
        for number in 1...21 {
            body += Array("--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"\(number).txt\"\r\n\r\na\r\n".utf8)
        }
        body += Array("--B--\r\n".utf8)
        let head = "POST / HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: \(body.count)\r\n\r\n"
        let request = Array(head.utf8) + body
        #expect(try Self.lint(request)?.findings.map(\.kind) == [])
        #expect(try Self.lint(request, server: .php)?.findings.map(\.kind).sorted() == ["nameTwice", "tooMany"])
        #expect(try Self.lint(request, server: .django)?.findings.map(\.kind) == [])
    }

    @Test func partsOfAHiddenBodyAreFound() throws {
        let body = Array("--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--B--\r\n".utf8)
        let parts = try #require(try BodyParts(BodyContents(body), headers: HeaderFields(["Content-Type: application/json"])))
        #expect(parts.isHidden)
        #expect(parts.all.map(\.name) == ["a"])
        #expect(try BodyParts(BodyContents(Array("---\na: 1\n".utf8)), headers: HeaderFields(["Content-Type: text/yaml"])) == nil)
    }

    @Test(arguments: ["cafÃ©.png", "â€™.txt", "ê³ ì\u{96}'"]) func misreadNamesAreUndone(_ name: String) {
        let undone = Misreading.undone(Array(name.utf8)).map { String(decoding: $0, as: UTF8.self) }
        #expect(name.hasPrefix("caf") ? undone == "café.png" : name.hasPrefix("â") ? undone == "’.txt" : undone == nil || undone != name)
    }

    @Test(arguments: ["café.png", "고양이.png", "Ünïcode", "plain"]) func ordinaryNamesAreNotMisread(_ name: String) {
        #expect(Misreading.undone(Array(name.utf8)) == nil)
    }
}
