import Foundation
import Testing
@testable import TapeTLS

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

    /// Threads of their own stand for programs: the lock is one of open files, which they do not share.
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

    @Test func aLinkInPlaceOfTheKeyIsRefused() throws {
        _ = try self.files.loadOrCreate(now: self.now)
        try FileManager.default.moveItem(atPath: self.files.keyPath, toPath: self.folder.file("elsewhere"))
        try FileManager.default.createSymbolicLink(atPath: self.files.keyPath, withDestinationPath: self.folder.file("elsewhere"))
        #expect(self.failure()?.code == .unsafePath)
        // Where the files are named one by one, links are meant.
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
