import Testing
import TapeTestSupport

/// `git clone` through the recorder, and again from the cassette without a server.
@Suite struct GitTests {
    private static func git(_ arguments: [String], in folder: TemporaryFolder) throws {
        let end = try ExternalProgram.run(
            try Programs.find("git"), ["-c", "user.name=Bori", "-c", "user.email=bori@example.test"] + arguments, directory: folder.path)
        guard end.status == 0 else { throw TestProblem("git \(arguments) ended with \(end.status): \(end.errors)") }
    }

    @Test(arguments: ["http", "https"]) func aCloneIsReplayedWithoutTheServer(scheme: String) throws {
        let certificates = try TLSCertificates()
        let isSecure = scheme == "https"
        let folder = try TemporaryFolder()
        try Self.git(["init", "--quiet", "repositories/pets"], in: folder)
        for number in 0..<20 { try folder.write((0...255).map { UInt8($0 ^ number) }, to: "repositories/pets/\(number).bin") }
        try Self.git(["-C", "repositories/pets", "add", "."], in: folder)
        try Self.git(["-C", "repositories/pets", "commit", "--quiet", "--message", "Add the pets"], in: folder)
        let identity = isSecure ? [certificates.certificate("good"), certificates.key("good")] : []
        let origin = try Python.origin("git_origin.py", [folder.file("repositories")] + identity)
        defer { origin.program.stop() }
        let url = "\(scheme)://127.0.0.1:\(origin.port)/pets/.git"
        let cassette = folder.file("clone.json")

        let trust = isSecure ? ["--upstream-ca", certificates.authority] : []
        let record = try Wiretape.run(["record", cassette] + trust + ["--", "git", "clone", "--quiet", url, folder.file("recorded")])
        #expect(record.status == 0, "\(record.errors)")
        let urls = try CassetteFile.urls(cassette)
        #expect(urls.count >= 2 && urls.allSatisfy { $0.hasPrefix(url) }, "\(urls)")
        try CassetteFile.expectValid(cassette)

        origin.program.stop()
        let replay = try Wiretape.run(["replay", cassette, "--", "git", "clone", "--quiet", url, folder.file("replayed")])
        #expect(replay.status == 0, "\(replay.errors)")
        #expect(replay.errors.contains("replayed \(urls.count) of \(urls.count) exchanges"), "\(replay.errors)")
        try Self.git(["-C", "replayed", "fsck", "--full"], in: folder)
        for number in 0..<20 {
            #expect(try folder.read("replayed/\(number).bin") == folder.read("repositories/pets/\(number).bin"))
        }
    }
}
