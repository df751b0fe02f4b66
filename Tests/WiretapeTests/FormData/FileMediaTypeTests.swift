import Testing
import Wiretape

struct FileMediaTypeTests {
    @Test(arguments: [
        ("a.jpg", "image/jpeg"), ("a.JPEG", "image/jpeg"), ("a.b.json", "application/json"), ("/x.y/음식.png", "image/png"),
        ("a.3gp", "video/3gpp"), ("a.zip", "application/zip"), ("notes.txt", "text/plain"),
    ])
    func theExtensionTellsTheType(name: String, type: String) {
        #expect(FileMediaType.named(name) == type)
    }

    @Test(arguments: ["", "jpg", ".jpg", "a.", "a.wiretape-none", "x.jpg/a", "a.jpg~"])
    func whatIsNotKnownIsBytes(name: String) {
        #expect(FileMediaType.named(name) == "application/octet-stream")
    }
}
