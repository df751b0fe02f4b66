import Testing

@testable import TapeCore

@Suite struct CodingsDecoderTests {
    private func codings(_ json: String) throws -> [ContentCoding]? {
        try decodeInteraction(
            #"{"id":1,"started":"2026-11-21T04:19:28Z","request":{"method":"PUT","url":"http://a/","body":{"size":1,"text":"a","codings":\#(json)}}}"#
        ).request.body?.codings
    }

    @Test func whatIsLeftOutIsTheDefault() throws {
        #expect(try self.codings(#"[{"gzip":{"level":6}}]"#) == [.gzip(DeflateParameters(level: 6), header: .plain)])
        #expect(try self.codings(#"[{"gzip":{}},{"deflate":{}}]"#) == [.gzip(nil, header: .plain), .deflate(nil)])
        #expect(
            try self.codings(#"[{"raw-deflate":{"level":0,"memory":9,"window":9,"strategy":4}}]"#)
                == [.rawDeflate(DeflateParameters(level: 0, memoryLevel: 9, windowBits: 9, strategy: 4))])
    }

    @Test(arguments: [
        #"[{"gzip":{"level":10}}]"#, #"[{"gzip":{"memory":9}}]"#, "[{}]", "{}", "[1]", #"[{"deflate":{"level":6,"window":99}}]"#,
        #"[{"deflate":{"level":6,"window":8}}]"#, #"[{"gzip":{"header":"1f8b"}}]"#, #"[{"gzip":{"header":"zz"}}]"#,
        #"[{"gzip":{},"deflate":{}}]"#,
        #"[{"gzip":{"level":6.0}}]"#, #"[{"br":1}]"#, #"[{"br":{},"gzip":{}}]"#,
    ])
    func whatZlibWouldNotTakeIsDamaged(_ json: String) {
        #expect(decodingError("\"codings\": \(json)")?.code == .damaged)
    }

    @Test func theOrderIsKept() throws {
        #expect(try self.codings(#"[{"gzip":{}},{"br":{}},{"zstd":{}}]"#) == [.gzip(nil, header: .plain), .brotli, .zstandard])
    }

    @Test(arguments: [#"[{"br":{"quality":5}}]"#, #"[{"zstd":{"level":3}}]"#, #"[{"compress":{}}]"#])
    func whatChangesTheOctetsAndIsNotKnownIsRefused(_ json: String) {
        #expect(decodingError("\"codings\": \(json)")?.code == .unsupportedVersion)
    }

    @Test func thereAreEightAtMost() {
        let many = Array(repeating: "{\"gzip\":{}}", count: 9).joined(separator: ",")
        #expect(decodingError("\"codings\": [\(many)]")?.code == .tooLarge)
    }
}
