import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

struct FormDataFileTests {
    private func code(_ body: () throws -> FormData.File) -> FormDataError.Code? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? FormDataError)?.code
        }
    }

    @Test func aFileIsKnownByItsNameAndSize() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write([1, 2, 3], to: "음식 100%?#.jpg")
        let file = try FormData.File(path: path)
        #expect(file.path == path && file.size == 3 && file.name == "음식 100%?#.jpg")
        // Clients have the URL in Foundation's spelling.
        #expect(try FormData.File(url: URL(fileURLWithPath: path).absoluteString) == file)
    }

    @Test(arguments: [
        ("file:///a/b", "/a/b"), ("FILE:///a%20b", "/a b"), ("file://localhost/a", "/a"), ("file:/a", "/a"),
        ("file:///%EC%9D%8C", "/음"), ("file:///a%3Fb%23", "/a?b#"),
    ])
    func urlsOfFilesAreRead(url: String, path: String) {
        #expect(FormData.File.path(of: url) == path)
    }

    @Test(arguments: [
        "", "/a/b", "http://localhost/a", "file:", "file://", "file:a/b", "file://server/share", "file:///a?b", "file:///a#b", "file:///%",
        "file:///%0", "file:///%zz", "file:///a%00b", "file:///%ff", "data:,x",
    ])
    func urlThatIsNoFileURLHasItsOwnError(url: String) {
        #expect(self.code { try FormData.File(url: url) } == .notAFileURL)
    }

    @Test func eachCheckHasItsOwnError() throws {
        let folder = try TemporaryFolder()
        #expect(self.code { try FormData.File(path: folder.file("none")) } == .unreachable)
        #expect(self.code { try FormData.File(path: "") } == .unreachable)
        #expect(self.code { try FormData.File(path: "a\u{0}b") } == .unreachable)
        #expect(self.code { try FormData.File(path: folder.path) } == .isFolder)
        let file = try folder.write([1], to: "file")
        #expect(self.code { try FormData.File(path: file + "/below") } == .unreachable)
        #expect(self.code { try FormData.File(path: "/dev/null") } == .noSize)
        let pipe = folder.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(self.code { try FormData.File(path: pipe) } == .noSize)
    }

    // Root can open every file.
    @Test(.enabled(if: geteuid() != 0))
    func aFileThatMayNotBeReadIsNotOpenable() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write([1], to: "secret")
        #expect(chmod(path, 0) == 0)
        #expect(self.code { try FormData.File(path: path) } == .unopenable)
    }

    @Test func messagesNameTheFileOnOneLine() {
        do {
            _ = try FormData.File(path: "/no\nsuch")
            #expect(Bool(false))
        } catch {
            #expect(error.message == "cannot open \"/no\\nsuch\": there is no such file or folder (ENOENT); check the path")
        }
    }
}

struct FileMediaTypeTests {
    @Test(arguments: [
        ("a.jpg", "image/jpeg"), ("a.JPEG", "image/jpeg"), ("a.b.json", "application/json"), ("/x.y/음식.png", "image/png"),
        ("a.3gp", "video/3gpp"), ("a.zip", "application/zip"), ("notes.txt", "text/plain"),
    ])
    func theExtensionTellsTheType(name: String, type: String) {
        #expect(FormData.FileMediaType.named(name) == type)
    }

    @Test(arguments: ["", "jpg", ".jpg", "a.", "a.wiretape-none", "x.jpg/a", "a.jpg~"])
    func unknownExtensionIsOctetStream(name: String) {
        #expect(FormData.FileMediaType.named(name) == "application/octet-stream")
    }
}
