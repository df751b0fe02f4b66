import TapeCore
import Testing

@testable import WiretapeCLI

@Suite struct BodyContentsTests {
    private let reader = BodyReader(cassettePath: "/nowhere/pets.json")

    private func contents(_ octets: [UInt8], _ coding: String?, isComplete: Bool = true) throws -> BodyContents {
        let folder = try TemporaryFolder()
        try folder.write(octets, to: "pets.bodies/undeveloped.raw")
        let slice = RawSlice(path: "pets.bodies/undeveloped.raw", offset: 0, size: octets.count, crc32: PlainCRC32.value(octets))
        let body = Body(size: octets.count, isComplete: isComplete, content: .raw(slice))
        let headers = HeaderFields(coding.map { ["Content-Encoding: \($0)"] } ?? [])
        return try BodyContents(body, headers: headers, reader: BodyReader(cassettePath: "\(folder.path)/pets.json"))
    }

    private func coded(_ format: DeflateFormat) -> [UInt8] {
        var octets: [UInt8] = []
        var deflater = Deflater(DeflateParameters(level: 6), format: format)
        _ = Array("wiretape ".utf8).withUnsafeBytes { content in
            deflater?.push(content, isLast: true) { piece in
                octets.append(contentsOf: piece)
                return true
            }
        }
        return octets
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

    @Test func whatIsNotWhatItClaimsIsShownAsItIs() throws {
        let octets = Array("not gzip".utf8)
        let contents = try self.contents(octets, "gzip")
        #expect(contents.inflated == nil)
        #expect(try contents.load(limit: 100) == octets)
        #expect(try self.contents([1], "deflate").inflated == nil)
        #expect(try self.contents(octets, "br").load(limit: 100) == octets)
    }

    @Test func ofACutBodyWhatCameIsShown() throws {
        let half = Array(self.coded(.gzip).dropLast(8))
        #expect(try self.contents(half, "gzip", isComplete: false).load(limit: 100) == Array("wiretape ".utf8))
        #expect(try self.contents(half, "gzip").load(limit: 100) == half)
    }

    @Test func aBodyThatIsMissingIsAnError() {
        let body = Body(size: 3, content: .file(Sidecar(path: "pets.bodies/x.txt", size: 3, sha256: "")))
        #expect(throws: CassetteError.self) { try BodyContents(body, headers: HeaderFields(), reader: self.reader) }
    }
}
