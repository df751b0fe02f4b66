@testable import CassetteFormat
@testable import CassetteModel
@testable import CassetteRedaction
@testable import TapeBytes
import Testing

@Suite struct LeakScanTests {
    private let vault: SecretVault = {
        let vault = SecretVault()
        _ = vault.placeholder(for: Array("s3cret/value-0123".utf8), kind: "token")
        return vault
    }()

    private func spellings(_ bytes: [UInt8]) throws -> [String] {
        try LeakScan(self.vault).leaks(in: ByteSource(bytes)).map(\.spelling.rawValue)
    }

    @Test func findsEachSpelling() throws {
        #expect(try self.spellings(Array("x s3cret/value-0123".utf8)) == ["plain"])
        #expect(try self.spellings(Array("x s3cret%2Fvalue-0123".utf8)) == ["percent"])
        #expect(try self.spellings(Array(#"x s3cret\/value-0123"#.utf8)) == ["json"])
        #expect(try self.spellings(Array("x s3cret&#47;value-0123".utf8)) == ["html"])
        #expect(try self.spellings(SecretCorpus.base64(Array("ab s3cret/value-0123 c".utf8))) == ["base64"])
        #expect(try self.spellings(RedactionFixtures.gzip(Array("x s3cret/value-0123".utf8))) == ["compressed"])
        #expect(try self.spellings(Array("x {{token:1}}".utf8)) == [])
    }

    @Test func offsetsAreThoseOfTheFile() throws {
        var bytes = Array(repeating: UInt8(ascii: "."), count: 3_000_000)
        bytes.replaceSubrange(2_500_000..<2_500_017, with: Array("s3cret/value-0123".utf8))
        #expect(try LeakScan(self.vault).leaks(in: ByteSource(bytes)).map(\.offset) == [2_500_000])
        #expect(bytes.withUnsafeBytes { Redactor(vault: self.vault).mayConcern($0) })
    }

    /// A file is read in pieces, and searched a mebibyte at a time.
    @Test(arguments: [1, 8, 16]) func aSecretAcrossTheEdgeOfABlockIsFound(before: Int) throws {
        var bytes = Array(repeating: UInt8(ascii: "."), count: 1_200_000)
        let start = (1 << 20) - before
        bytes.replaceSubrange(start..<start + 17, with: Array("s3cret/value-0123".utf8))
        let file = ByteSource(size: bytes.count) { offset, buffer in
            let count = min(buffer.count, bytes.count - offset)
            bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count])) }
            return count
        }
        #expect(try LeakScan(self.vault).leaks(in: file).map(\.offset) == [start])
    }

    @Test func findsHexAndUTF16() throws {
        #expect(try self.spellings(Array(("x " + Hex.encode(Array("s3cret/value-0123".utf8))).utf8)) == ["hex"])
        #expect(try self.spellings(Array("s3cret/value-0123".utf8).flatMap { [0, $0] }) == ["utf16"])
    }

    @Test func codingsOfTheMessageAreDecoded() throws {
        // Brotli has no magic number, and neither has deflate without a wrapper.
        let text = Array("x s3cret/value-0123".utf8)
        let wire = try #require(text.withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 9), format: .raw) })
        #expect(try self.spellings(wire) == [])
        #expect(try LeakScan(self.vault).leaks(in: ByteSource(wire), codings: [.deflate]).map(\.spelling) == [.compressed])
    }
}

@Suite struct LeakTests {
    @Test func saysWhatIsWhere() {
        let leak = Leak(placeholder: Placeholder(kind: "jwt", number: 2), offset: 7, spelling: .base64)
        #expect(leak.description == "{{jwt:2}} at offset 7 (base64)")
    }
}
