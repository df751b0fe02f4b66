@testable import CassetteModel
import Testing

struct MultipartReaderTests {
    @Test(arguments: MultipartFixture.texts) func piecesMakeTheSameBody(_ text: String) throws {
        let bytes = Array(text.utf8)
        let whole = try MultipartFixture.body(bytes)
        var reader = MultipartReader(boundary: try #require(MultipartBoundary("X")))
        for index in bytes.indices { bytes[index...index].withUnsafeBytes { reader.push($0) } }
        #expect(reader.finish() == whole)
    }

    /// A level that has passed a limit takes no more from the shared limits, however its body is cut.
    @Test(arguments: [
        // The preamble of the inner level, its epilogue, its header section, and its number of parts each pass a limit.
        "0123456789\r\n--Y\r\n\r\na\r\n--Y\r\n\r\nb", "--Y--\r\n0123456789\r\n--Y\r\n",
        "--Y\r\n\(String(repeating: "A: b\r\n", count: 10))\r\n--Y\r\n",
        "--Y\r\n\r\na\r\n--Y\r\n\r\nb\r\n--Y\r\n\r\nc\r\n--Y\r\n\r\nd",
        "--Y\r\nContent-Type: multipart/mixed; boundary=Z\r\n\r\n01234\r\n--Z\r\n\r\n\r\n--Y\r\n\r\n\r\n--Y\r\n\r\n\r\n--Y\r\n",
    ]) func limitsDoNotDependOnTheCuts(_ inner: String) throws {
        var limits = MultipartLimits()
        limits.parts = 3
        limits.headerSection = 50
        limits.surroundings = 8
        let type = "Content-Type: multipart/mixed; boundary=Y\r\n"
        for tail in ["\r\n--X--", "\r\n--X\r\n\r\nc\r\n--X--", "\r\n--X--\r\n0123"] {
            let bytes = Array("--X\r\n\(type)\r\n\(inner)\(tail)".utf8)
            let whole = try MultipartFixture.body(bytes, limits: limits)
            for size in [1, 2, 3, 7, 20] {
                var reader = MultipartReader(boundary: try #require(MultipartBoundary("X")), limits: limits)
                for start in stride(from: 0, to: bytes.count, by: size) {
                    bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { reader.push($0) }
                }
                #expect(reader.finish() == whole, "in pieces of \(size), then \(tail.debugDescription)")
            }
        }
    }
}

struct MultipartAllowanceTests {
    @Test func givesUpToItsLimits() {
        var limits = MultipartLimits()
        limits.parts = 1
        limits.allHeaderSections = 10
        limits.surroundings = 5
        let allowance = MultipartAllowance(limits)
        #expect(allowance.takePart())
        #expect(!allowance.takePart())
        #expect(allowance.takeHeaders(10))
        #expect(!allowance.takeHeaders(1))
        #expect(allowance.takeSurroundings(5))
        #expect(!allowance.takeSurroundings(1))
    }
}

struct MultipartLevelTests {
    private func nested(_ depth: Int) -> String {
        guard depth > 0 else { return "deep" }
        let inner = depth > 1 ? "Content-Type: multipart/mixed; boundary=X\(depth - 1).\r\n" : ""
        return "--X\(depth).\r\n\(inner)\r\n\(self.nested(depth - 1))\r\n--X\(depth).--"
    }

    private func depth(_ body: MultipartBody<Range<Int>>) -> Int {
        guard case .multipart(let inner) = body.parts.first?.content else { return 1 }
        return 1 + self.depth(inner)
    }

    @Test func levelsAreLimited() throws {
        var limits = MultipartLimits()
        limits.depth = 3
        for levels in 1...5 {
            let bytes = Array(self.nested(levels).utf8)
            let body = try #require(try MultipartFixture.body(bytes, boundary: "X\(levels).", limits: limits))
            #expect(self.depth(body) == min(levels, 3))
            #expect(bytes.withUnsafeBytes { MultipartSerializer.bytes(body, source: $0) } == bytes)
        }
    }

    @Test func rangesCountFromTheStartOfTheWholeBody() throws {
        let bytes = Array("p\r\n--X\r\nContent-Type: multipart/mixed; boundary=Y\r\n\r\nq\r\n--Y\r\n\r\nfound\r\n--Y--\r\n\r\n--X--".utf8)
        let body = try #require(try MultipartFixture.body(bytes))
        guard case .multipart(let inner) = body.parts[0].content, case .data(let range) = inner.parts[0].content else {
            Issue.record("no inner part")
            return
        }
        #expect(String(decoding: bytes[range], as: UTF8.self) == "found")
        #expect(inner.preamble == Array("q".utf8))
        #expect(body.preamble == Array("p".utf8))
    }

    @Test func aPartThatIsNotTheMultipartItClaimsToBeIsData() throws {
        let bytes = Array("--X\r\nContent-Type: multipart/mixed; boundary=Y\r\n\r\nnothing\r\n--X--".utf8)
        let body = try #require(try MultipartFixture.body(bytes))
        guard case .data(let range) = body.parts[0].content else {
            Issue.record("no data")
            return
        }
        #expect(String(decoding: bytes[range], as: UTF8.self) == "nothing")
    }

    @Test func levelsShareTheLimits() throws {
        let bytes = Array(self.nested(3).utf8)
        var limits = MultipartLimits()
        limits.parts = 3
        #expect(try MultipartFixture.body(bytes, boundary: "X3.", limits: limits).map(self.depth) == 3)
        limits.parts = 2
        let less = try MultipartFixture.body(bytes, boundary: "X3.", limits: limits)
        #expect(less.map(self.depth) == 2)
        limits = MultipartLimits()
        limits.allHeaderSections = 10
        #expect(try MultipartFixture.body(bytes, boundary: "X3.", limits: limits) == nil)
        limits = MultipartLimits()
        limits.surroundings = 3
        #expect(try MultipartFixture.body(Array("long\r\n--X--".utf8), limits: limits) == nil)
        #expect(try MultipartFixture.body(Array("--X--\r\nlong".utf8), limits: limits) == nil)
        #expect(try MultipartFixture.body(Array("ago\r\n--X--".utf8), limits: limits) != nil)
    }
}
