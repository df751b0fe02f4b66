@testable import CassetteModel
@testable import CassetteStore
import Foundation
import Testing

@Suite struct SystemErrorTests {
    private func error(_ number: Int32, _ operation: SystemError.Operation) -> CassetteError {
        SystemError(number: number, operation: operation, path: "a/pets.json").cassetteError
    }

    @Test func saysWhatWhereAndWhatNext() {
        #expect(self.error(ENOSPC, .write).message == "cannot write \"a/pets.json\": no space left on the disk (ENOSPC); free some space")
        #expect(self.error(EWOULDBLOCK, .lock).message.contains("another recorder is writing it"))
        #expect(self.error(9999, .read).message.contains("errno 9999"))
    }

    @Test func classifies() {
        for number in [ENOSPC, EDQUOT, EFBIG] { #expect(self.error(number, .write).code == .noSpace) }
        #expect(self.error(EIO, .read).code == .unreadable)
        #expect(self.error(EIO, .sync).code == .unwritable)
        #expect(self.error(ENOENT, .open).code == .notFound)
        #expect(self.error(ELOOP, .open).code == .unsafePath)
        #expect(self.error(EWOULDBLOCK, .lock).code == .inUse)
    }
}
