import Foundation
import TapeTestSupport
import Testing

@testable import Wiretape

@Suite struct DownloadFileTests {
    private let folder: TemporaryFolder
    private let response = HTTPResponse(url: URL(fileURLWithPath: "/x"), status: 200)

    init() throws { self.folder = try TemporaryFolder() }

    private func file(to name: String? = nil, _ options: DownloadRequest.Options = []) -> DownloadFile {
        guard let name else { return DownloadFile(folder: URL(fileURLWithPath: self.folder.path), destination: nil) }
        let target = URL(fileURLWithPath: self.folder.file(name))
        return DownloadFile(folder: URL(fileURLWithPath: self.folder.path)) { _, _ in (target, options) }
    }

    @Test func theFileIsInItsPlaceWholeOrNotAtAll() throws {
        let file = self.file(to: "result")
        try file.write(Data("ab".utf8))
        try file.write(Data("c".utf8))
        #expect(try !self.folder.names().contains("result"))
        try file.place(self.response)
        #expect(try self.folder.read("result") == Array("abc".utf8))
        #expect(file.url?.path == self.folder.file("result"))
        file.finish()
        #expect(try self.folder.names() == ["result"])
    }

    @Test func whatIsNotPlacedIsRemoved() throws {
        let file = self.file(to: "result")
        try file.write(Data("ab".utf8))
        #expect(try self.folder.names().count == 1)
        file.finish()
        #expect(try self.folder.names().isEmpty)
        #expect(file.url == nil)
    }

    @Test func anotherAttemptBeginsAnew() throws {
        let file = self.file(to: "result")
        try file.write(Data("half".utf8))
        file.restart()
        try file.write(Data("whole".utf8))
        try file.place(self.response)
        #expect(try self.folder.read("result") == Array("whole".utf8))
    }

    @Test func aFileThatIsThereIsReplacedOnlyWhereThatIsWanted() throws {
        try self.folder.write(Array("old".utf8), to: "result")
        let refused = self.file(to: "result")
        let error = #expect(throws: WiretapeError.self) { try refused.place(self.response) }
        #expect(error?.message.contains("removePreviousFile") == true)
        refused.finish()
        #expect(try self.folder.read("result") == Array("old".utf8))
        try self.file(to: "result", .removePreviousFile).place(self.response)
        #expect(try self.folder.read("result").isEmpty)
    }

    @Test func foldersAreCreatedOnlyWhereThatIsWanted() throws {
        let refused = self.file(to: "a/b/result")
        let error = #expect(throws: WiretapeError.self) { try refused.place(self.response) }
        #expect(error?.message.contains("createIntermediateDirectories") == true)
        try self.file(to: "a/b/result", .createIntermediateDirectories).place(self.response)
        #expect(try self.folder.names(in: "a/b") == ["result"])
    }

    @Test func aFolderIsNoPlaceForAFile() throws {
        let error = #expect(throws: WiretapeError.self) { try self.file(to: "").place(self.response) }
        #expect(error?.code == .file)
    }

    @Test func aFolderThatIsNotThereIsTheError() {
        let file = DownloadFile(folder: URL(fileURLWithPath: "/nowhere/at/all"), destination: nil)
        let error = #expect(throws: WiretapeError.self) { try file.write(Data("a".utf8)) }
        #expect(error?.message.contains("\"/nowhere/at/all\"") == true)
    }

    @Test func onlyItsUserMayReadIt() throws {
        let file = self.file()
        try file.place(self.response)
        let attributes = try FileManager.default.attributesOfItem(atPath: try #require(file.url).path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test func nothingIsWrittenBehindTheEnd() throws {
        try self.folder.write(Array("old".utf8), to: "result")
        let file = self.file(to: "result", .removePreviousFile)
        try file.write(Data("half".utf8))
        file.finish()
        try file.write(Data("late".utf8))
        try file.place(self.response)
        #expect(try self.folder.names() == ["result"])
        #expect(try self.folder.read("result") == Array("old".utf8))
        #expect(file.url == nil)
    }
}
