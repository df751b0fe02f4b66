internal import CassetteModel
internal import Testing

@testable internal import TapeExchange

@Suite struct ConnectionOptionsTests {
    @Test func optionsOfAllLinesCount() {
        let options = ConnectionOptions(HeaderFields(["Connection: Close, a", "X: upgrade", "connection: ,KEEP-alive,,Upgrade"]))
        #expect(options.close && options.keepAlive && options.upgrade)
        #expect(options.nominates(Array("A".utf8)[...]))
        #expect(!options.nominates(Array("x".utf8)[...]))
    }

    @Test func connectionCannotNominateItselfOrFraming() {
        let names = ["connection", "host", "content-length", "transfer-encoding", "content-encoding", "trailer"]
        let options = ConnectionOptions(HeaderFields(["Connection: " + names.joined(separator: ", ")]))
        for name in names { #expect(!options.nominates(Array(name.utf8)[...])) }
    }
}
