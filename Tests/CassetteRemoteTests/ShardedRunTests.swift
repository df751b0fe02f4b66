import TapeTestSupport
import Testing

@testable import CassetteRemote

struct ShardedRunTests {
    private let stored: StoredCassette

    init() throws { self.stored = try StoredCassette() }

    private func run(_ name: String = "nightly-42") throws -> ShardedRun { try ShardedRun(name) }

    @Test(arguments: ["", ".", ".hidden", "a/b", "a b", "é", "a@b", String(repeating: "a", count: 101)])
    func aNameThatWouldBeNoFolderIsRefused(name: String) {
        #expect(throws: StoreError.self) { try ShardedRun(name) }
    }

    @Test(arguments: [
        ("s3://tapes/shop/runs/a-1/", "s3://tapes/shop", "a-1"), ("s3://tapes/runs/A.b", "s3://tapes", "A.b"),
        ("s3://tapes/runs/runs/x/", "s3://tapes/runs", "x"),
    ])
    func anAddressNamesStoreAndRun(text: String, store: String, run: String) throws {
        let named = try #require(try ShardedRun.named(text))
        #expect(named.address.description == store && named.run.name == run)
    }

    @Test(arguments: [
        "s3://tapes/shop", "s3://tapes/shop@" + String(repeating: "a", count: 64), "runs/a", "pets.json", "https://h/runs/a/",
        "s3://runs/a/",
    ])
    func otherNamesAreNoRuns(text: String) throws {
        let named = try ShardedRun.named(text)
        #expect(named == nil)
    }

    @Test func shardsStandBesideEachOther() throws {
        let client = try self.stored.store.client()
        let first = try self.stored.push().pointer
        try self.run().add(first, to: client)
        try self.stored.write(bodies: 5..<7, to: "more.json")
        let second = try self.stored.push("more.json").pointer
        try self.run().add(second, to: client)
        try self.run().add(second, to: client)
        try self.run("other").add(first, to: client)
        #expect(try self.run().pointers(in: client) == [first, second])
    }

    @Test func aRunWithoutShardsIsAnError() throws {
        let (run, client) = (try self.run(), try self.stored.store.client())
        let error = #expect(throws: StoreError.self) { try run.pointers(in: client) }
        #expect(error?.code == .notFound && error?.message.contains("--shard nightly-42") == true)
    }

    @Test(arguments: ["changed", "other", "long"]) func aShardThatCannotBeReadIsAnError(damage: String) throws {
        let client = try self.stored.store.client()
        let pointer = try self.stored.push().pointer
        try self.run().add(pointer, to: client)
        try self.stored.write(bodies: 5..<7, to: "more.json")
        let other = try self.stored.push("more.json").pointer
        self.stored.store.state.withLock { state in
            for key in state.objects.keys where key.hasPrefix("runs/") {
                switch damage {
                case "changed": state.objects[key]?.bytes[3] ^= 1
                case "other": state.objects[key]?.bytes = Array(other.text.utf8)
                default: state.objects[key]?.bytes = [UInt8](repeating: 65, count: CassettePointer.sizeLimit + 1)
                }
            }
        }
        let run = try self.run()
        #expect(throws: StoreError.self) { try run.pointers(in: client) }
    }

    // MARK: Collections

    private func collect(keeping digest: String) throws -> StoreCollection.Outcome {
        try StoreCollection(client: self.stored.store.client(), cache: self.stored.cache(), threads: 1).run(
            keeping: [digest: digest], grace: 1000, isDry: false)
    }

    /// A shard may be of old objects, which an earlier push stored.
    @Test func aCollectionKeepsTheShardsOfAYoungRun() throws {
        let kept = try self.stored.push().pointer.digest
        try self.stored.write(bodies: 5..<7, to: "more.json")
        let shard = try self.stored.push("more.json").pointer
        self.stored.store.state.withLock { $0.now += 2000 }
        try self.run().add(shard, to: self.stored.store.client())
        #expect(try self.collect(keeping: kept).removed == 0)
        _ = try self.stored.pull(shard.digest)
        #expect(try self.stored.cache().use(shard.digest, checksAll: true) != nil)
    }

    @Test func aShardThatIsAddedAgainIsYoung() throws {
        let kept = try self.stored.push().pointer.digest
        try self.stored.write(bodies: 5..<7, to: "more.json")
        let shard = try self.stored.push("more.json").pointer
        try self.run().add(shard, to: self.stored.store.client())
        self.stored.store.state.withLock { $0.now += 2000 }
        try self.run().add(shard, to: self.stored.store.client())
        #expect(try self.collect(keeping: kept).removed == 0)
    }

    @Test func aCollectionRemovesAnOldRunWithItsShards() throws {
        let kept = try self.stored.push().pointer.digest
        try self.stored.write(bodies: 5..<7, to: "more.json")
        let shard = try self.stored.push("more.json").pointer
        try self.run().add(shard, to: self.stored.store.client())
        self.stored.store.state.withLock { $0.now += 2000 }
        // Two bodies, the cassette, its manifest, and the run's pointer.
        #expect(try self.collect(keeping: kept).removed == 5)
        #expect(self.stored.store.state.withLock { $0.objects.keys.filter { $0.hasPrefix("runs/") } }.isEmpty)
        _ = try self.stored.pull(kept)
    }

    @Test func aShardThatACollectionCannotReadRemovesNothing() throws {
        let kept = try self.stored.push().pointer
        try self.stored.write(bodies: 5..<7, to: "more.json")
        _ = try self.stored.push("more.json")
        self.stored.store.state.withLock { $0.now += 2000 }
        try self.run().add(kept, to: self.stored.store.client())
        let count = self.stored.store.state.withLock { state in
            for key in state.objects.keys where key.hasPrefix("runs/") { state.objects[key]?.bytes[3] ^= 1 }
            return state.objects.count
        }
        #expect(throws: StoreError.self) { try self.collect(keeping: kept.digest) }
        #expect(self.stored.store.state.withLock { $0.objects.count } == count)
    }
}
