import Platform
import TapeTestSupport
import Testing

@testable import CassetteModel
@testable import CassetteStore

@Suite struct CassetteLockTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.path = self.folder.file("a.json")
        _ = try CassetteAppender.create(self.path, recorder: "r").finish()
    }

    @Test func keepsRecordersOffUntilItIsReleased() throws {
        let lock = try CassetteLock(self.path)
        #expect(throws: CassetteError.self) { try CassetteLock(self.path) }
        let error = #expect(throws: CassetteError.self) { try CassetteAppender.open(self.path, recorder: "r") }
        #expect(error?.code == .inUse)
        withExtendedLifetime(lock) {}
    }

    @Test func isFreeAgainBehindItsHolder() throws {
        do { _ = try CassetteLock(self.path) }
        _ = try CassetteLock(self.path)
    }

    @Test func findsTheCassetteBehindALink() throws {
        #expect(symlink("a.json", self.folder.file("link.json")) == 0)
        let lock = try CassetteLock(self.folder.file("link.json"))
        #expect(throws: CassetteError.self) { try CassetteLock(self.path) }
        withExtendedLifetime(lock) {}
    }

    @Test func aCassetteThatIsNotThereIsAnError() {
        let error = #expect(throws: CassetteError.self) { try CassetteLock(self.folder.file("none.json")) }
        #expect(error?.code == .notFound)
    }
}
