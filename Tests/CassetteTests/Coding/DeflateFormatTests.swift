import CassetteFormat
import Testing

@Suite struct DeflateFormatTests {
    @Test(arguments: [(DeflateFormat.gzip, "gz"), (.zlib, "zz"), (.raw, "deflate")])
    func theExtensionIsTheOneThatToolsKnow(format: DeflateFormat, name: String) {
        #expect(format.fileExtension == name)
    }

    @Test func extensionsTellFormatsApartAndAreSafeInAFileName() {
        #expect(Set(DeflateFormat.allCases.map(\.fileExtension)).count == DeflateFormat.allCases.count)
        for format in DeflateFormat.allCases {
            #expect(format.fileExtension.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) })
        }
    }
}
