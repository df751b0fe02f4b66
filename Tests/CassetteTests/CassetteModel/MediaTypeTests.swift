@testable import CassetteModel
import Testing

struct MediaTypeTests {
    private func type(_ field: String) -> MediaType { MediaType(Array(field.utf8)[...]) }

    @Test func caseParametersAndSpacesDoNotMatter() {
        #expect(self.type(" Application/JSON ; charset=utf-8").essence == "application/json")
        #expect(self.type("text/html;charset=x").fileExtension == "html")
        for field in ["application/json;charset=utf-8", "application/json"] { #expect(self.type(field).essence == "application/json") }
        for field in ["application/json-seq", "application/jsonl", "application/jso"] { #expect(self.type(field).essence == field) }
    }

    @Test func kindsFollowTheTypeAndItsSuffix() {
        for field in ["application/json", "text/json", "application/problem+json"] { #expect(self.type(field).kind == .json) }
        for field in ["text/html", "text/x-new", "image/svg+xml", "application/xml", "application/x-www-form-urlencoded"] {
            #expect(self.type(field).kind == .text)
        }
        for field in ["image/png", "video/x-new", "application/pdf", "application/wasm", "font/woff2"] {
            #expect(self.type(field).kind == .binary)
        }
        for field in ["application/octet-stream", "application/x-new", "", "nonsense", "multipart/form-data; boundary=x"] {
            #expect(self.type(field).kind == .unknown)
        }
        #expect(MediaType(nil).kind == .unknown)
    }

    @Test func extensionsOpenWithAClick() {
        let cases = [
            "image/png": "png", "image/jpeg": "jpg", "application/json": "json", "text/html": "html", "application/pdf": "pdf",
            "application/zip": "zip", "application/wasm": "wasm", "video/mp4": "mp4", "application/new+json": "json", "a/b+xml": "xml",
        ]
        for (field, expected) in cases { #expect(self.type(field).fileExtension == expected) }
        #expect(self.type("application/octet-stream").fileExtension == nil)
        #expect(self.type("image/../../etc").fileExtension == nil)
    }

    @Test func aHostileFieldIsCutAndTaken() {
        #expect(self.type(String(repeating: "a/", count: 100_000)).essence.utf8.count <= 255)
        #expect(MediaType([0xff, 0x2f, 0x00][...]).kind == .unknown)
    }
}

struct MagicNumberTests {
    private func sniff(_ bytes: [UInt8]) -> String? { bytes.withUnsafeBytes(MagicNumber.fileExtension(of:)) }

    @Test func filesAreKnownByTheirFirstBytes() {
        #expect(self.sniff([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]) == "png")
        #expect(self.sniff([0xff, 0xd8, 0xff, 0xe0]) == "jpg")
        #expect(self.sniff(Array("RIFF....WEBPVP8 ".utf8)) == "webp")
        #expect(self.sniff([0, 0, 0, 32] + Array("ftypisom".utf8)) == "mp4")
        #expect(self.sniff([UInt8](repeating: 1, count: 257) + Array("ustar".utf8)) == "tar")
        #expect(self.sniff(CodingFixtures.gzip6) == "gz")
    }

    @Test func shortOrUnknownBytesAreNothing() {
        #expect(self.sniff([]) == nil)
        #expect(self.sniff([0x89]) == nil)
        #expect(self.sniff([UInt8](repeating: 7, count: 600)) == nil)
    }
}
