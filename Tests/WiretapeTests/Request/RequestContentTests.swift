import Foundation
import TapeTestSupport
import Testing
import Wiretape

@testable import Wiretape

@Suite struct RequestContentTests {
    @Test func aFileIsReadLater() throws {
        let folder = try TemporaryFolder()
        try folder.write([1, 2, 3], to: "f")
        let content = try RequestContent(file: URL(fileURLWithPath: folder.file("f")))
        #expect(content.body.size == 3)
        #expect(content.type == nil && content.spool == nil)
    }

    @Test func noFileIsNoBody() throws {
        #expect(throws: WiretapeError.self) { try RequestContent(file: try "http://a.test/".asURL()) }
        #expect(throws: WiretapeError.self) { try RequestContent(file: URL(fileURLWithPath: "/nowhere/at/all")) }
        #expect(RequestContent.none.body.size == nil)
    }

    @Test func aSpooledStreamLivesAsLongAsItsContent() throws {
        let folder = try TemporaryFolder()
        var content: RequestContent? = try RequestContent(
            spooling: InputStream(data: Data("abc".utf8)), folder: URL(fileURLWithPath: folder.path))
        #expect(content?.body.size == 3)
        #expect(try folder.names().count == 1)
        content = nil
        #expect(try folder.names().isEmpty)
    }

    @Test func aFormHasItsType() throws {
        var form = MultipartFormData()
        try form.append("v", name: "n")
        let content = try RequestContent(form, threshold: 10_000, folder: nil)
        #expect(content.type == form.contentType)
        #expect(content.body.size == form.contentLength)
    }
}
