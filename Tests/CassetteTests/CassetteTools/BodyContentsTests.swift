import CassetteFormat
import CassetteModel
import CassetteStore
@testable import CassetteTools
import TapeTestSupport
import Testing

@Suite struct BodyContentsTests {
    private let reader = BodyReader(cassettePath: "/nowhere/pets.json")

    private func contents(
        _ bytes: [UInt8], _ coding: String?, isComplete: Bool = true, readsBroken: Bool = false
    ) throws -> BodyContents {
        let folder = try TemporaryFolder()
        try folder.write(bytes, to: "pets.bodies/undeveloped.raw")
        let slice = RawSlice(path: "pets.bodies/undeveloped.raw", offset: 0, size: bytes.count, crc32: PlainCRC32.value(bytes))
        let body = Body(size: bytes.count, isComplete: isComplete, content: .raw(slice))
        let headers = HeaderFields(coding.map { ["Content-Encoding: \($0)"] } ?? [])
        return try BodyContents(
            body, headers: headers, reader: BodyReader(cassettePath: "\(folder.path)/pets.json"), readsBroken: readsBroken)
    }

    private func coded(_ format: DeflateFormat) -> [UInt8] {
        var bytes: [UInt8] = []
        var deflater = Deflater(DeflateParameters(level: 6), format: format)
        _ = Array("wiretape ".utf8).withUnsafeBytes { content in
            deflater?.push(content, isLast: true) { piece in
                bytes.append(contentsOf: piece)
                return true
            }
        }
        return bytes
    }

    /// Otherwise every part would decode the body from the start: 50 parts of 17 MB took 12 seconds, 200 took 42.
    @Test func contentTooLargeToKeepIsDecodedForRandomAccess() throws {
        let coded = self.coded(.gzip)
        let headers = HeaderFields(["Content-Encoding: gzip"])
        let body = Body(size: coded.count, content: .binary(coded), note: "not decoded")
        let contents = try BodyContents(body, headers: headers, reader: self.reader, readsBroken: true, keptSize: 4)
        #expect(contents.inflated == [.gzip] && contents.size == 9)
        let atHand = try contents.forRandomAccess()
        #expect(atHand.inflated == [.gzip] && atHand.size == 9)
        for start in 0..<9 {
            let expected = Array("wiretape ".utf8)[start...]
            #expect(try contents.part(start..<9).load(limit: 9) == Array(expected))
            #expect(try atHand.part(start..<9).load(limit: 9) == Array(expected))
        }
        #expect(try BodyContents(coded).forRandomAccess().load(limit: 100) == coded)
    }

    @Test func contentInTheCassetteIsReadWhole() throws {
        let contents = try BodyContents(Body(size: 3, content: .binary([1, 2, 3])), headers: HeaderFields(), reader: self.reader)
        #expect(contents.size == 3)
        #expect(try contents.load(limit: 3) == [1, 2, 3])
        #expect(try contents.load(limit: 2) == nil)
        #expect(try contents.prefix(2) == [1, 2])
        #expect(contents.inflated == nil)
    }

    @Test func aDecodedBodyIsNotDecodedAgain() throws {
        let body = Body(size: 3, codings: [.deflate(nil)], content: .text(Array("abc".utf8)))
        let contents = try BodyContents(body, headers: HeaderFields(["Content-Encoding: gzip"]), reader: self.reader)
        #expect(try contents.load(limit: 10) == Array("abc".utf8))
    }

    @Test(arguments: [(DeflateFormat.gzip, "gzip"), (.zlib, "deflate"), (.raw, "deflate")])
    func anUndevelopedBodyIsShownWithoutItsCoding(format: DeflateFormat, name: String) throws {
        let contents = try self.contents(self.coded(format), name)
        #expect(contents.inflated?.map(\.rawValue) == [name])
        #expect(contents.size == 9)
        #expect(try contents.load(limit: 100) == Array("wiretape ".utf8))
        #expect(try contents.prefix(4) == Array("wire".utf8))
    }

    @Test func bodyWithAWrongCodingIsShownAsItIs() throws {
        let bytes = Array("not gzip".utf8)
        let contents = try self.contents(bytes, "gzip")
        #expect(contents.inflated == nil)
        #expect(try contents.load(limit: 100) == bytes)
        #expect(try self.contents([1], "deflate").inflated == nil)
        #expect(try self.contents(bytes, "br").load(limit: 100) == bytes)
    }

    @Test func receivedPartOfATruncatedBodyIsShown() throws {
        let half = Array(self.coded(.gzip).dropLast(8))
        #expect(try self.contents(half, "gzip", isComplete: false).load(limit: 100) == Array("wiretape ".utf8))
        #expect(try self.contents(half, "gzip").load(limit: 100) == half)
    }

    @Test func aBodyThatIsMissingIsAnError() {
        let body = Body(size: 3, content: .file(Sidecar(path: "pets.bodies/x.txt", size: 3, sha256: "")))
        #expect(throws: CassetteError.self) { try BodyContents(body, headers: HeaderFields(), reader: self.reader) }
    }

    @Test func ofABrokenBodyTheReadableBeginningIsShownWhereAskedFor() throws {
        let broken = Array(self.coded(.gzip).dropLast(8)) + [1, 2, 3, 4, 5, 6, 7, 8]
        let contents = try self.contents(broken, "gzip", readsBroken: true)
        #expect(try contents.load(limit: 100) == Array("wiretape ".utf8))
        #expect(contents.breaking?.name == .gzip)
        #expect(contents.breaking?.problem.kind == .wrongChecksum)
        #expect(try self.contents(broken, "gzip").load(limit: 100) == broken)
        #expect(try self.contents(Array("not gzip".utf8), "gzip", readsBroken: true).breaking?.name == nil)
    }

    @Test func aBrokenBodyIsRecognizedByItsNote() throws {
        let half = Array(self.coded(.gzip).dropLast(8))
        let headers = HeaderFields(["Content-Encoding: gzip"])
        let body = Body(size: half.count, content: .binary(half), note: "gzip: cut short")
        let contents = try BodyContents(body, headers: headers, reader: self.reader, readsBroken: true)
        #expect(contents.breaking?.problem.kind == .truncated)
        #expect(try contents.load(limit: 100) == Array("wiretape ".utf8))
    }

    @Test(arguments: [nil, "gzip"]) func aPartIsARangeOfTheContent(coding: String?) throws {
        let bytes = coding == nil ? Array("wiretape ".utf8) : self.coded(.gzip)
        let contents = try self.contents(bytes, coding)
        #expect(try contents.part(4..<8).load(limit: 10) == Array("tape".utf8))
        #expect(try contents.part(4..<8).part(1..<3).load(limit: 10) == Array("ap".utf8))
        #expect(try contents.part(7..<100).load(limit: 10) == Array("e ".utf8))
        #expect(try contents.part(9..<9).load(limit: 10) == [])
        #expect(contents.part(4..<8).size == 4)
    }
}

@Suite struct MessageChoiceTests {
    @Test func eachMessageHasItsBodyAndFields() {
        var interaction = Interaction.sample(body: Body(size: 1, content: .text([65])))
        #expect(interaction.body(of: .response).body?.size == 1)
        #expect(interaction.body(of: .response).headers.contains("content-type"))
        #expect(interaction.body(of: .request).body == nil)
        #expect(interaction.body(of: .request).headers.contains("host"))
        interaction.response = nil
        #expect(interaction.body(of: .response).body == nil)
        #expect(interaction.body(of: .response).headers.isEmpty)
    }
}
