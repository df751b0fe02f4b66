import TapeCore
import TapeExchange
import Testing
@testable import TapeProxy

@Suite struct CassetteFinisherTests {
    /// A cassette with raw bodies, as a recorder leaves it that was killed.
    private func undeveloped(_ folder: TemporaryFolder, texts: [String]) throws {
        let path = folder.file("tape.json")
        let store = try BodyStore(cassettePath: path)
        var maker = InteractionMaker(store: store)
        let appender = try CassetteAppender.create(path, recorder: "wiretape 1")
        var writer = JSONWriter(reserving: 1024)
        for (index, text) in texts.enumerated() {
            let wire = try #require(Array(text.utf8).withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 9), format: .gzip) })
            let exchange = TapedExchanges.exchange(
                index + 1, started: 100 - index, fields: ["Content-Type: text/plain", "Content-Encoding: gzip"], body: wire)
            let made = try #require(try maker.interaction(of: exchange, mayDevelop: false))
            writer.removeAll(baseDepth: 2)
            InteractionEncoder.encode(made, into: &writer)
            appender.stage { $0 += writer.bytes }
        }
        try appender.commit()
        try store.syncAll()
        try appender.sync()
    }

    @Test func rawBodiesAreDevelopedPutInOrderAndTheSpoolRemoved() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        try self.undeveloped(folder, texts: ["first", "second"])
        #expect(try RunningProxy.interactions(path).allSatisfy { $0.isUndeveloped })
        var told: [Int] = []
        #expect(try CassetteFinisher.develop(path, version: "1") { done, _ in told.append(done) } == 2)
        let interactions = try RunningProxy.interactions(path)
        #expect(interactions.map { $0.response?.body?.content } == [.text(Array("second".utf8)), .text(Array("first".utf8))])
        #expect(try folder.names(in: "tape.bodies").isEmpty)
        #expect(told == [0, 1, 2])
        #expect(try CassetteFinisher.develop(path, version: "1") { _, _ in } == 0)
    }

    @Test func aDamagedRawBodyStaysRawAndHoldsNobodyUp() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("tape.json")
        try self.undeveloped(folder, texts: ["first", "second"])
        var octets = try folder.read("tape.bodies/undeveloped.raw")
        octets[12] ^= 0xff
        try folder.write(octets, to: "tape.bodies/undeveloped.raw")
        #expect(try CassetteFinisher.develop(path, version: "1") { _, _ in } == 1)
        #expect(try RunningProxy.interactions(path).map(\.isUndeveloped) == [false, true])
        #expect(try folder.names(in: "tape.bodies").contains("undeveloped.raw"))
    }
}
