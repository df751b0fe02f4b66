import Foundation
@testable import TapeTLS
import Testing
import TapeTestSupport

@Suite struct AuthorityFilesTests {
    // SAFETY: all access is under the lock.
    private final class Outcomes: @unchecked Sendable {
        private let lock = NSLock()
        private var outcomes: [Result<CertificateSummary, any Error>] = []

        var all: [Result<CertificateSummary, any Error>] { self.lock.withLock { self.outcomes } }

        func add(_ outcome: Result<CertificateSummary, any Error>) { self.lock.withLock { self.outcomes.append(outcome) } }
    }

    private let now: Int64 = 1_790_000_000
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private var path: String { self.folder.file("data/wiretape") }
    private var files: AuthorityFiles { AuthorityFiles(folder: self.path) }

    private func failure(now: Int64? = nil) -> CertificateError? {
        certificateError { _ = try self.files.loadOrCreate(now: now ?? self.now) }
    }

    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test func theFirstUseMakesItAndTheNextFindsIt() throws {
        #expect(certificateError { _ = try self.files.load(now: self.now) }?.code == .notFound)
        let made = try self.files.loadOrCreate(now: self.now)
        #expect(try self.mode(self.path) == 0o700)
        #expect(try self.mode(self.files.keyPath) == 0o600)
        #expect(try self.folder.names(in: "data/wiretape") == ["ca-cert.pem", "ca-key.pem"])
        #expect(self.files.warning == nil)
        let again = try self.files.loadOrCreate(now: self.now)
        #expect(again.certificate == made.certificate)
        #expect(try AuthorityFiles(folder: self.path + "//").load(now: self.now).certificate == made.certificate)
    }

    /// Threads represent programs: the lock belongs to open files, which they do not share.
    @Test func allThatStartAtOnceEndUpWithTheSame() throws {
        let now = self.now
        for round in 0..<10 {
            let files = AuthorityFiles(folder: self.folder.file("\(round)"))
            let found = Outcomes()
            let start = DispatchSemaphore(value: 0)
            let end = DispatchGroup()
            for _ in 0..<6 {
                end.enter()
                Thread.detachNewThread {
                    start.wait()
                    found.add(Result { try files.loadOrCreate(now: now).certificate })
                    end.leave()
                }
            }
            for _ in 0..<6 { start.signal() }
            end.wait()
            #expect(try Set(found.all.map { try $0.get() }).count == 1)
            #expect(found.all.count == 6)
            #expect(try self.folder.names(in: "\(round)").count == 2)
        }
    }

    @Test(arguments: ["ca-cert.pem", "ca-key.pem"])
    func halfAnAuthorityIsNeitherUsedNorCompleted(missing: String) throws {
        _ = try self.files.loadOrCreate(now: self.now)
        try FileManager.default.removeItem(atPath: "\(self.path)/\(missing)")
        let error = try #require(self.failure())
        #expect(error.code == .notFound)
        #expect(error.message.hasPrefix("\"\(self.path)/\(missing)\" is missing, but \"\(self.path)/"))
        #expect(try self.folder.names(in: "data/wiretape").count == 1)
    }

    @Test(arguments: ["ca-cert.pem", "ca-key.pem"])
    func aDamagedFileIsNamedAndKept(name: String) throws {
        _ = try self.files.loadOrCreate(now: self.now)
        try self.folder.write(Array("damaged".utf8), to: "data/wiretape/\(name)")
        let error = try #require(self.failure())
        #expect(error.code == .damaged)
        #expect(error.message.contains("\"\(self.path)/\(name)\""))
        #expect(error.message.hasSuffix("remove both files, start again, and trust the new authority"))
        #expect(try self.folder.read("data/wiretape/\(name)") == Array("damaged".utf8))
    }

    @Test func aKeyOfAnotherAuthorityIsAMismatch() throws {
        _ = try self.files.loadOrCreate(now: self.now)
        try self.folder.write(PrivateKey.makeP256().pem(), to: "data/wiretape/ca-key.pem")
        #expect(self.failure()?.code == .mismatch)
        #expect(self.failure()?.message.contains(self.files.keyPath) == true)
    }

    @Test func anExpiredOneIsNotReplaced() throws {
        let end = try self.files.loadOrCreate(now: self.now).certificate.notAfter
        let before = try self.folder.read("data/wiretape/ca-cert.pem")
        #expect(self.failure(now: end)?.code == .expired)
        #expect(self.failure(now: end)?.message.contains(self.files.certificatePath) == true)
        #expect(try self.folder.read("data/wiretape/ca-cert.pem") == before)
    }

    @Test func aLinkInsteadOfTheKeyIsRefused() throws {
        _ = try self.files.loadOrCreate(now: self.now)
        try FileManager.default.moveItem(atPath: self.files.keyPath, toPath: self.folder.file("elsewhere"))
        try FileManager.default.createSymbolicLink(atPath: self.files.keyPath, withDestinationPath: self.folder.file("elsewhere"))
        #expect(self.failure()?.code == .unsafePath)
        // If the files are named individually, links are intended.
        let named = AuthorityFiles(certificateFile: self.files.certificatePath, keyFile: self.files.keyPath)
        #expect(try named.load(now: self.now).certificate.isAuthority)
    }

    @Test func aKeyThatOthersCanReadIsUsedWithAWarning() throws {
        _ = try self.files.loadOrCreate(now: self.now)
        chmod(self.files.keyPath, 0o644)
        #expect(self.failure() == nil)
        #expect(self.files.warning?.hasSuffix("run: chmod 600 '\(self.files.keyPath)'") == true)
    }

    @Test func namedFilesAreNeverMade() throws {
        let named = AuthorityFiles(certificateFile: self.folder.file("a.pem"), keyFile: self.folder.file("b.pem"))
        let error = certificateError { _ = try named.loadOrCreate(now: self.now) }
        #expect(error?.code == .notFound)
        #expect(error?.message.contains("\"\(self.folder.file("a.pem"))\"") == true)
        #expect(try self.folder.names().isEmpty)
    }

    @Test func anEncryptedKeyIsNamed() throws {
        let authority = try CertificateAuthority.make(now: self.now)
        let certificate = try self.folder.write(authority.certificatePEM(), to: "a.pem")
        let key = try self.folder.write(Array(SampleKeys.encryptedPKCS8.utf8), to: "b.pem")
        let error = certificateError { _ = try AuthorityFiles(certificateFile: certificate, keyFile: key).load(now: self.now) }
        #expect(error?.code == .encrypted)
        #expect(error?.message.hasPrefix("\"\(key)\": the key is encrypted; ") == true)
    }
}

@Suite struct AuthorityFileTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func file(_ name: String, followsLinks: Bool = false) -> AuthorityFile {
        AuthorityFile(path: self.folder.file(name), followsLinks: followsLinks)
    }

    private func mode(_ name: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: self.folder.file(name))[.posixPermissions] as? Int)
    }

    @Test func createdFileIsReadAgainAndLeavesNoOtherFiles() throws {
        try self.file("key").create([1, 2, 3], mode: 0o600)
        #expect(try self.file("key").read() == [1, 2, 3])
        #expect(try self.mode("key") == 0o600)
        #expect(try self.folder.names() == ["key"])
        #expect(self.file("key").isReadableByOthers == false)
    }

    @Test func aTakenNameIsKept() throws {
        try self.folder.write([9], to: "key")
        let error = certificateError { try self.file("key").create([1], mode: 0o600) }
        #expect(error?.code == .unwritable)
        #expect(error?.message.hasPrefix("cannot create \"\(self.folder.file("key"))\": File exists") == true)
        #expect(try self.folder.read("key") == [9])
        #expect(try self.folder.names() == ["key"])
    }

    @Test func aLinkIsFollowedOnlyWhereItIsMeantToBe() throws {
        try self.folder.write([7], to: "target")
        try FileManager.default.createSymbolicLink(atPath: self.folder.file("link"), withDestinationPath: "target")
        try FileManager.default.createSymbolicLink(atPath: self.folder.file("nowhere"), withDestinationPath: "gone")
        let error = certificateError { _ = try self.file("link").read() }
        #expect(error?.code == .unsafePath)
        #expect(error?.message.contains(self.folder.file("link")) == true)
        #expect(try self.file("link", followsLinks: true).read() == [7])
        #expect(self.file("nowhere").isPresent)
        #expect(self.file("gone").isPresent == false)
    }

    @Test func pathThatIsNoFileIsRefusedWithoutBlocking() throws {
        mkfifo(self.folder.file("pipe"), 0o600)
        #expect(certificateError { _ = try self.file("pipe").read() }?.code == .unsafePath)
        #expect(certificateError { _ = try AuthorityFile(path: self.folder.path, followsLinks: true).read() }?.code == .unsafePath)
        #expect(certificateError { _ = try self.file("missing").read() }?.code == .notFound)
    }

    @Test func aHugeFileIsRefused() throws {
        try self.folder.write([UInt8](repeating: 0x20, count: 1 << 20 + 1), to: "huge")
        #expect(certificateError { _ = try self.file("huge").read() }?.code == .damaged)
    }

    @Test func othersMayNotRead() throws {
        try self.folder.write([1], to: "key")
        chmod(self.folder.file("key"), 0o640)
        #expect(self.file("key").isReadableByOthers)
    }
}

@Suite struct AuthorityFolderTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func mode(_ name: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: self.folder.file(name))[.posixPermissions] as? Int)
    }

    @Test func missingFoldersAreMadeForTheirOwnerAlone() throws {
        _ = try AuthorityFolder(self.folder.file("share/wiretape"))
        #expect(try self.mode("share/wiretape") == 0o700)
        #expect(try self.mode("share") == 0o700)
        // An existing folder stays unchanged.
        chmod(self.folder.file("share"), 0o755)
        _ = try AuthorityFolder(self.folder.file("share"))
        #expect(try self.mode("share") == 0o755)
    }

    @Test func theLockIsOnesAloneUntilItIsFreed() throws {
        var lock: AuthorityFolder? = try AuthorityFolder(self.folder.path)
        lock?.synchronize()
        let other = open(self.folder.path, O_RDONLY)
        defer { close(other) }
        #expect(flock(other, LOCK_EX | LOCK_NB) == -1)
        lock = nil
        #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
    }

    @Test func aFileInThePlaceOfTheFolderIsNamed() throws {
        let path = try self.folder.write([1], to: "file")
        #expect(
            certificateError { _ = try AuthorityFolder(path) }?.message.hasPrefix("cannot use the folder \"\(path)\": Not a directory")
                == true)
        #expect(certificateError { _ = try AuthorityFolder(path + "/ca") }?.code == .unwritable)
    }
}
