import Testing

@testable import CassetteModel

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

    @Test func flushesAndMembersAreRead() throws {
        #expect(
            try self.codings(#"[{"deflate":{"level":6,"flushes":[0,4096]}}]"#) == [
                .deflate(DeflateParameters(level: 6, flushes: [0, 4096]))
            ])
        let header = GzipHeader(bytes: [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255])
        #expect(
            try self.codings(
                #"[{"gzip":[{"size":7,"level":6},{"size":0,"level":1,"flushes":[3]},{"level":9,"header":"1f8b08000000000002ff"}]}]"#)
                == [
                    .gzipMembers([
                        GzipMember(header: .plain, parameters: DeflateParameters(level: 6), size: 7),
                        GzipMember(header: .plain, parameters: DeflateParameters(level: 1, flushes: [3]), size: 0),
                        GzipMember(header: header, parameters: DeflateParameters(level: 9), size: nil),
                    ])
                ])
    }

    @Test func membersAndFlushesHaveLimits() {
        let members = Array(repeating: #"{"size":1,"level":6}"#, count: 16).joined(separator: ",")
        #expect(decodingError(#""codings": [{"gzip":[\#(members),{"level":6}]}]"#)?.code == .tooLarge)
        let flushes = Array(repeating: "1", count: 1025).joined(separator: ",")
        #expect(decodingError(#""codings": [{"gzip":{"level":6,"flushes":[\#(flushes)]}}]"#)?.code == .tooLarge)
        #expect(decodingError(#""codings": [{"gzip":[{"size":1,"level":6},{"level":6,"quality":1}]}]"#)?.code == .unsupportedVersion)
    }

    @Test(arguments: [
        #"[{"gzip":[]}]"#, #"[{"gzip":[{"level":6}]}]"#, #"[{"gzip":[{"level":6},{"level":6}]}]"#, #"[{"gzip":[{"size":1},{"level":6}]}]"#,
        #"[{"gzip":[{"size":1,"level":6},{"size":1,"level":6}]}]"#, #"[{"gzip":[{"size":-1,"level":6},{"level":6}]}]"#,
        #"[{"gzip":[{"size":1,"level":6},{}]}]"#, #"[{"deflate":[{"size":1,"level":6},{"level":6}]}]"#, #"[{"gzip":[1,2]}]"#,
        #"[{"gzip":{"level":6,"size":1}}]"#, #"[{"gzip":{"flushes":[1]}}]"#, #"[{"gzip":{"level":6,"flushes":[-1]}}]"#,
        #"[{"gzip":{"level":6,"flushes":1}}]"#, #"[{"gzip":{"level":6,"flushes":["1"]}}]"#, #"[{"gzip":{"level":6,"flushes":[1.5]}}]"#,
    ])
    func membersAndFlushesThatMakeNoStreamAreRefused(_ json: String) throws {
        #expect([.damaged, .unsupportedVersion].contains(decodingError("\"codings\": \(json)")?.code))
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
    func whatChangesTheBytesAndIsNotKnownIsRefused(_ json: String) {
        #expect(decodingError("\"codings\": \(json)")?.code == .unsupportedVersion)
    }

    @Test func thereAreEightAtMost() {
        let many = Array(repeating: "{\"gzip\":{}}", count: 9).joined(separator: ",")
        #expect(decodingError("\"codings\": [\(many)]")?.code == .tooLarge)
    }
}
