@testable import CassetteRedaction
import Testing

@Suite struct TapeArchiveTests {
    /// A tar archive of files with these names and contents.
    static func archive(_ files: [(name: String, content: [UInt8])]) -> [UInt8] {
        var archive: [UInt8] = []
        for file in files {
            var header = [UInt8](repeating: 0, count: 512)
            func put(_ text: String, at offset: Int) { header.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8) }
            put(file.name, at: 0)
            put("0000644", at: 100)
            let size = String(file.content.count, radix: 8)
            put(String(repeating: "0", count: 11 - size.count) + size, at: 124)
            put("ustar\u{0}00", at: 257)
            archive += header + file.content + [UInt8](repeating: 0, count: (512 - file.content.count % 512) % 512)
        }
        return archive + [UInt8](repeating: 0, count: 1024)
    }

    private func redacted(_ archive: [UInt8]) -> [UInt8] { RedactionFixtures.bytes(archive, ["Content-Type: application/x-tar"]) }

    @Test func filesAreSearchedAsTextsAndNothingMoves() {
        let old = Self.archive([
            ("a.env", Array("DB_PASSWORD=Hunter2pass9\n".utf8)), ("b.json", Array("{\"password\": \"Hunter2pass9\"}".utf8)),
        ])
        let new = self.redacted(old)
        #expect(new.count == old.count)
        let text = String(decoding: new, as: UTF8.self)
        #expect(!text.contains("Hunter2"))
        #expect(text.contains("DB_PASSWORD={{password") && text.contains("{\"password\": \"{{password"))
        #expect(new[..<512] == old[..<512])
    }

    @Test func aFileThatIsCutIsSearched() {
        let old = Self.archive([("a.env", Array("DB_PASSWORD=Hunter2pass9\n".utf8) + [UInt8](repeating: 10, count: 600))])
        #expect(!String(decoding: self.redacted(Array(old[..<540])), as: UTF8.self).contains("Hunter2pass9"))
    }

    @Test func rangesCoverEverythingOnce() {
        let archive = Self.archive([("a", [1, 2, 3]), ("empty", []), ("b", [UInt8](repeating: 7, count: 513))])
        for count in [512, 513, 515, 1024, 1537, 2100, archive.count] {
            let found = archive[..<count].withUnsafeBytes { TapeArchive($0) }
            let ranges = ((found?.files ?? []) + (found?.gaps ?? [])).sorted { $0.lowerBound < $1.lowerBound }
            for (one, next) in zip(ranges, ranges.dropFirst()) { #expect(one.upperBound <= next.lowerBound, "\(count)") }
            #expect(ranges.first?.lowerBound == 0 && ranges.allSatisfy { $0.upperBound <= count }, "\(count)")
        }
    }

    @Test func aSizeBeyondTheEndOrAllBitsIsNoTrap() {
        for size in ["77777777777", "\u{80}\u{FF}", "        ", "99999999999"] {
            var archive = Self.archive([("a", Array("password=Hunter2pass9".utf8))])
            let bytes = size.unicodeScalars.map { UInt8($0.value) }
            archive.replaceSubrange(124..<124 + bytes.count, with: bytes)
            #expect(!String(decoding: self.redacted(archive), as: UTF8.self).contains("Hunter2pass9"), "\(size)")
        }
        var archive = Self.archive([("a", [1])])
        archive.replaceSubrange(124..<136, with: [0x80] + [UInt8](repeating: 255, count: 11))
        #expect(self.redacted(archive) == archive)
    }
}
