import Foundation
import TapeTestSupport
import Testing
@testable import WiretapeCLI

@Suite struct BrowserTests {
    private let folder: TemporaryFolder
    private let authority: MadeAuthority

    init() throws {
        self.folder = try TemporaryFolder()
        self.authority = try MadeAuthority(in: self.folder.file("authority"))
    }

    private func launch(_ program: String, url: String? = "https://example.test/") throws -> BrowserLaunch {
        BrowserLaunch(
            browser: Browser(program: program), proxy: "127.0.0.1:7070", profile: self.folder.path,
            authority: try AuthorityCertificate(file: self.authority.certificateFile),
            leafKey: Array(repeating: 7, count: 32), url: url, arguments: ["--mine"])
    }

    @Test func chromiumGetsAProfileTheProxyAndTheKey() throws {
        let command = try self.launch("/usr/bin/chromium").prepare(isRoot: false)
        #expect(command.first == "/usr/bin/chromium" && command.suffix(2) == ["--mine", "https://example.test/"])
        #expect(command.contains("--user-data-dir=\(self.folder.path)") && command.contains("--proxy-server=http://127.0.0.1:7070"))
        #expect(command.contains { $0.hasPrefix("--proxy-bypass-list=<-loopback>;") } && command.contains("--disable-quic"))
        let key = command.first { $0.hasPrefix("--ignore-certificate-errors-spki-list=") }
        #expect(key?.hasSuffix("=") == true && key?.count == "--ignore-certificate-errors-spki-list=".count + 44)
        #expect(!command.contains("--no-sandbox"))
        #expect(try self.launch("chromium", url: nil).prepare(isRoot: true).suffix(3) == ["--no-sandbox", "--mine", "about:blank"])
    }

    @Test(.enabled(if: Programs.isInstalled("certutil"), "certutil is not installed"))
    func firefoxGetsAProfileWithTheAuthority() throws {
        let command = try self.launch("firefox-esr").prepare()
        #expect(command.starts(with: ["firefox-esr", "--profile", self.folder.path, "--no-remote"]))
        let preferences = String(decoding: try self.folder.read("user.js"), as: UTF8.self)
        #expect(preferences.contains("user_pref(\"network.proxy.ssl_port\", 7070);\n"))
        #expect(preferences.contains("user_pref(\"network.proxy.allow_hijacking_localhost\", true);\n"))
        #expect(preferences.contains("user_pref(\"network.http.http3.enable\", false);\n"))
        let known = try ExternalProgram.run(try Programs.find("certutil"), ["-L", "-d", "sql:\(self.folder.path)"])
        #expect(known.outputText.contains("wiretape") && known.outputText.contains("C,,"))
    }

    @Test func aBrowserIsFoundByItsNameOrItsPath() throws {
        let program = self.folder.file("firefox")
        try self.folder.write(Array("#!/bin/sh\n".utf8), to: "firefox")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        #expect(try Browser.find(nil, environment: ["PATH": self.folder.path]) == Browser(program: "firefox"))
        #expect(try Browser.find(program, environment: [:]).family == .firefox)
        let missing = #expect(throws: TrustError.self) { try Browser.find("/none/chrome", environment: [:]) }
        #expect(missing?.message.contains("--browser-program") == true)
    }

    @Test func aBrowserStartedByHandGetsInstructions() {
        let advice = Browser.started(by: ["/usr/bin/chromium", "--headless"])?.advice(for: "a b.json")
        #expect(advice?.contains("wiretape record 'a b.json' --browser --browser-program /usr/bin/chromium URL") == true)
        #expect(Browser.started(by: ["curl"]) == nil && Browser.started(by: []) == nil)
    }

    @Test func aURLIsForABrowserAlone() throws {
        let problem = #expect(throws: (any Error).self) { try RecordCommand.parse(["a.json", "curl"]) }
        #expect(problem.map { RecordCommand.message(for: $0) }?.contains("put a command after \"--\"") == true)
        let command = try RecordCommand.parse(["a.json", "--browser", "https://example.test/", "--", "--headless"])
        #expect(command.url == "https://example.test/" && command.command == ["--headless"])
    }
}

/// The real browser, whose output shows the page that it received.
@Suite struct ChromiumTests {
    @Test(.enabled(if: Programs.isInstalled("chromium"), "chromium is not installed"))
    func aPageIsRecordedAndReplayedWithoutItsServer() throws {
        let certificates = try TLSCertificates()
        let folder = try TemporaryFolder()
        let identity = [certificates.certificate("good"), certificates.key("good")]
        let origin = try Python.origin("browser_origin.py", identity)
        defer { origin.program.stop() }
        let url = "https://127.0.0.1:\(origin.port)/"
        let cassette = folder.file("page.json")
        let tail = [
            "--browser", "--browser-program", try Programs.find("chromium"), url, "--", "--headless=new", "--virtual-time-budget=5000",
            "--dump-dom",
        ]
        let record = try Wiretape.run(["record", cassette, "--upstream-ca", certificates.authority] + tail)
        #expect(record.status == 0 && record.outputText.contains("<p>script, image, fetch</p>"), "\(record.outputText)\n\(record.errors)")
        let urls = try CassetteFile.urls(cassette)
        #expect(urls.allSatisfy { $0.hasPrefix(url) }, "what the browser asks for by itself: \(urls)")
        origin.program.stop()
        let replay = try Wiretape.run(["replay", cassette, "--repeat", "last"] + tail)
        #expect(replay.status == 0 && replay.outputText == record.outputText, "\(replay.errors)")
    }
}
