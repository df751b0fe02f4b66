import TapeTestSupport
import Testing

@testable import CassetteRemote

struct StoreCollectionTests {
    private let stored: StoredCassette
    private let kept: String

    /// Two cassettes that share three bodies; one of the cassettes is not kept.
    init() throws {
        self.stored = try StoredCassette()
        self.kept = try self.stored.push().pointer.digest
        try self.stored.write(bodies: 0..<5, to: "more.json")
        _ = try self.stored.push("more.json")
    }

    private func run(_ digests: [String], grace: Int = 1000, isDry: Bool = false) throws -> StoreCollection.Outcome {
        try StoreCollection(client: self.stored.store.client(), cache: self.stored.cache(), threads: 1).run(
            keeping: Dictionary(uniqueKeysWithValues: digests.map { ($0, $0) }), grace: grace, isDry: isDry)
    }

    @Test func onlyWhatNothingNeedsAndIsOldIsRemoved() throws {
        #expect(try self.run([self.kept]).young == 4)
        self.stored.store.state.withLock { $0.now += 2000 }
        #expect(try self.run([self.kept], isDry: true).removed == 4)
        #expect(self.stored.store.state.withLock { $0.objects.count } == 9)
        let outcome = try self.run([self.kept])
        // Two bodies, the other cassette and its manifest.
        #expect((outcome.removed, outcome.kept) == (4, 5))
        _ = try self.stored.pull(self.kept)
        #expect(try self.stored.isWhole(self.kept, in: self.stored.cache()))
    }

    @Test func pointerThatCannotBeReadRemovesNothing() throws {
        self.stored.store.state.withLock { $0.now += 2000 }
        let missing = String(repeating: "a", count: 64)
        let error = #expect(throws: StoreError.self) { try self.run([self.kept, missing]) }
        #expect(error?.code == .notFound)
        #expect(self.stored.store.state.withLock { $0.objects.count } == 9)
    }

    @Test func damagedManifestRemovesNothing() throws {
        self.stored.store.state.withLock { state in
            state.now += 2000
            for key in state.objects.keys where key.hasPrefix("manifests/") { state.objects[key]?.bytes[5] ^= 1 }
        }
        let error = #expect(throws: StoreError.self) { try self.run([self.kept]) }
        #expect(error?.code == .damaged)
        #expect(self.stored.store.state.withLock { $0.objects.count } == 9)
    }

    @Test func objectThatIsRenewedAfterTheListingStays() throws {
        self.stored.store.state.withLock { state in
            state.now += 2000
            let now = state.now
            state.before = { method, key, objects in if method == "HEAD" { objects[key]?.modified = now } }
        }
        let outcome = try self.run([self.kept])
        #expect((outcome.removed, outcome.spared) == (0, 4))
        #expect(self.stored.store.state.withLock { $0.objects.count } == 9)
    }

    @Test func foreignKeysAreNeverRemoved() throws {
        self.stored.store.state.withLock { state in
            state.objects["objects/00/readme.txt"] = MemoryStore.Object(bytes: [1], modified: 1)
            state.objects["other/file"] = MemoryStore.Object(bytes: [1], modified: 1)
            state.now += 2000
        }
        #expect(try self.run([self.kept]).foreign == 1)
        #expect(
            self.stored.store.state.withLock { $0.objects.keys.filter { !$0.hasPrefix("objects/") || $0.hasSuffix(".txt") }.count } == 3)
    }

    @Test func pushRenewsWhatACollectionWouldRemoveSoon() throws {
        self.stored.store.state.withLock { state in
            for key in state.objects.keys { state.objects[key]?.modified = 1_000_000_000 }
        }
        #expect(try self.stored.push().renewed == 5)
    }
}
