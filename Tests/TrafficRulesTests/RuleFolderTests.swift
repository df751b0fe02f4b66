import CassetteModel
import Foundation
import Testing
@testable import TrafficRules

@Suite struct RuleFolderTests {
    /// A folder that is removed at the end of a test.
    final class Folder {
        let url: URL

        init() throws {
            self.url = FileManager.default.temporaryDirectory.appendingPathComponent("rules-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: self.url, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(at: self.url) }

        var path: String { self.url.path }

        func write(_ name: String, _ text: String) throws {
            let file = self.url.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }

        func link(_ name: String, to target: String) throws {
            try FileManager.default.createSymbolicLink(
                atPath: self.url.appendingPathComponent(name).path, withDestinationPath: target)
        }
    }

    private func answer(_ yaml: String, _ folder: Folder, _ request: RequestFacts) throws -> LocalAnswer {
        try #require(try RulesText.engine(yaml, folder: folder.path).plan(for: request, now: .zero)?.answer)
    }

    @Test func fileAnswersByItself() throws {
        let folder = try Folder()
        try folder.write("fixtures/config.json", "{}")
        let yaml = "- when: \"~m GET|HEAD & ~u /config\\\\.json$\"\n  mapLocal: fixtures/config.json"
        let answer = try self.answer(yaml, folder, .get("http://a.example/x/config.json"))
        #expect(answer.status == 200)
        #expect(answer.headers.lines == ["Content-Type: application/json", "Accept-Ranges: bytes", "Content-Length: 2"])
        #expect(answer.body == Array("{}".utf8))
        let head = try self.answer(yaml, folder, RequestFacts(method: "HEAD", url: "http://a.example/x/config.json"))
        #expect(head.headers.lines == answer.headers.lines)
        #expect(head.body == [])
    }

    @Test func folderAnswersByTheRestOfThePath() throws {
        let folder = try Folder()
        try folder.write("site/index.html", "home")
        try folder.write("site/a b/c+d.txt", "text")
        try folder.write("secret.txt", "secret")
        let yaml = "- when: \"~u ^http://a\\\\.example/static/\"\n  mapLocal: site"
        for (rest, status, body) in [
            ("", 200, "home"), ("index.html?x=1", 200, "home"), ("a%20b/c+d.txt", 200, "text"), ("a%20b/c%2Bd.txt", 200, "text"),
            (
                "missing.txt", 404,
                "there is no file \"site/missing.txt\": create it, or correct mapLocal (rule \"rule 1\")\n"
            ), ("a%20b/", 404, "\"site/a b\" is a folder without index.html: add it, or ask for a file in it (rule \"rule 1\")\n"),
        ] {
            let answer = try self.answer(yaml, folder, .get("http://a.example/static/\(rest)"))
            #expect(answer.status == status, "\(rest)")
            #expect(String(decoding: answer.body, as: UTF8.self) == body)
        }
    }

    /// The folder is there, whatever the request asks for in it.
    @Test(arguments: ["..%2f..%2fetc/passwd", "../x.txt", "a%00"]) func aPathThatCouldLeadOutIsNamed(rest: String) throws {
        let folder = try Folder()
        try folder.write("site/x.txt", "x")
        for yaml in ["- mapLocal: site", "- when: \"~u ^http://a\\\\.example/static/\"\n  mapLocal: site"] {
            let url = "http://a.example/\(yaml.contains("static") ? "static/" : "")\(rest)"
            let answer = try self.answer(yaml, folder, .get(url))
            #expect(answer.status == 404)
            #expect(
                String(decoding: answer.body, as: UTF8.self)
                    == "a path with \"..\", or with slashes or control characters in a name, leads to no file in \"site\": ask for a file in it (rule \"rule 1\")\n"
            )
        }
    }

    @Test(arguments: [
        "../secret.txt", "..%2fsecret.txt", "%2e%2e/secret.txt", "%2E%2E%2Fsecret.txt", "a/../../secret.txt", "..%5csecret.txt",
        "%2e%2e%5csecret.txt", "a/%2e%2e/%2e%2e/secret.txt", "%00secret.txt", "link.txt", "linked/secret.txt", "%252e%252e/secret.txt",
        "..;/secret.txt", "%c0%ae%c0%ae/secret.txt", "/etc/passwd", "%2fetc%2fpasswd",
    ])
    func nothingOutsideOfTheFolderIsRead(rest: String) throws {
        let folder = try Folder()
        try folder.write("site/a/x.txt", "x")
        try folder.write("secret.txt", "secret")
        try folder.link("site/link.txt", to: "../secret.txt")
        try folder.link("site/linked", to: "..")
        let yaml = "- when: \"~u ^http://a\\\\.example/static/\"\n  mapLocal: site"
        let answer = try self.answer(yaml, folder, .get("http://a.example/static/\(rest)"))
        #expect(answer.status == 404)
        #expect(!String(decoding: answer.body, as: UTF8.self).contains("root:"))
        #expect(!String(decoding: answer.body, as: UTF8.self).hasPrefix("secret"))
    }

    @Test(arguments: ["/etc/passwd", "../x", "a/../../x", "~/x", "a\\\\b", "", "."])
    func pathsOutsideOfTheFolderAreRefused(path: String) throws {
        let folder = try Folder()
        for rule in ["- mapLocal: \"\(path)\"", "- respond: { file: \"\(path)\" }", "- request: { set: { body: { file: \"\(path)\" } } }"] {
            #expect(try RulesText.problem(rule, folder: folder.path) != nil, "\(rule)")
        }
    }

    @Test func ruleThatNamesALinkIsRefused() throws {
        let folder = try Folder()
        try folder.link("passwd", to: "/etc/passwd")
        let problem = try RulesText.problem("- respond: { file: passwd }", folder: folder.path)
        #expect(problem?.contains("leads through a symbolic link, which rules do not follow") == true)
        #expect(try self.answer("- mapLocal: passwd", folder, .get("http://a.example/")).status == 404)
    }

    @Test func otherMethodsAreRefusedWithWhatToDo() throws {
        let folder = try Folder()
        try folder.write("a.json", "{}")
        let answer = try self.answer("- mapLocal: a.json", folder, .post("http://a.example/", "{}"))
        #expect(answer.status == 405)
        #expect(answer.headers.lines.contains("Allow: GET, HEAD"))
        #expect(String(decoding: answer.body, as: UTF8.self).contains("add \"~m GET\" to when"))
    }

    @Test(arguments: [
        ("bytes=0-1", 206, "01", "Content-Range: bytes 0-1/10"), ("bytes=-3", 206, "789", "Content-Range: bytes 7-9/10"),
        ("bytes=8-", 206, "89", "Content-Range: bytes 8-9/10"), ("bytes=20-", 416, "", "Content-Range: bytes */10"),
        ("bytes=0-0,2-2", 200, "0123456789", ""), ("lines=1-2", 200, "0123456789", ""),
    ])
    func rangesAreAnswered(range: String, status: Int, body: String, field: String) throws {
        let folder = try Folder()
        try folder.write("a.txt", "0123456789")
        let answer = try self.answer("- mapLocal: a.txt", folder, .get("http://a.example/", ["Range: \(range)"]))
        #expect(answer.status == status)
        #expect(String(decoding: answer.body, as: UTF8.self) == body)
        #expect(field.isEmpty || answer.headers.lines.contains(field))
        #expect(answer.headers.lines.contains("Content-Length: \(body.utf8.count)"))
    }

    @Test func pipeDoesNotMakeAnybodyWait() throws {
        let folder = try Folder()
        #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
        #expect(try self.answer("- mapLocal: pipe", folder, .get("http://a.example/")).status == 500)
    }
}
