import Testing

@testable import CassetteModel

struct MediaTypeTests {
    private func type(_ field: String) -> MediaType { MediaType(Array(field.utf8)[...]) }

    @Test func caseParametersAndSpacesDoNotMatter() {
        #expect(self.type(" Application/JSON ; charset=utf-8").essence == "application/json")
        #expect(self.type("text/html;charset=x").fileExtension == "html")
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
