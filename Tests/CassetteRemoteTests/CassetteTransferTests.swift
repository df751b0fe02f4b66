import CassetteModel
import TapeBytes
import TapeTestSupport
import Testing

@testable import CassetteRemote

struct CassetteTransferTests {
    @Test func pulledCassetteHasTheBytesOfThePushedOne() throws {
        let stored = try StoredCassette()
        let outcome = try stored.push()
        // Three bodies, the cassette, the manifest.
        #expect((outcome.objects, outcome.stored, outcome.changedPointer) == (5, 5, true))
        let pointer = try stored.pointer()
        #expect(pointer == outcome.pointer)
        #expect(pointer.exchanges == 3)
        #expect(try stored.pull(pointer.digest).loaded == 4)
        #expect(try stored.isWhole(pointer.digest, in: stored.cache()))
        #expect(try stored.pull(pointer.digest) == CassettePull.Outcome(wasThere: true))
    }

    @Test func secondPushStoresNothingAndKeepsThePointer() throws {
        let stored = try StoredCassette()
        _ = try stored.push()
        let text = try stored.folder.read("pets.json.tape")
        stored.store.state.withLock { $0.log = [] }
        let outcome = try stored.push()
        #expect((outcome.stored, outcome.changedPointer) == (0, false))
        #expect(try stored.folder.read("pets.json.tape") == text)
        #expect(!stored.store.state.withLock { $0.log }.contains { $0.hasPrefix("PUT") })
    }

    @Test func pushThatReadsBackRepairsEachDamagedObject() throws {
        let stored = try StoredCassette()
        let digest = try stored.push().pointer.digest
        for key in stored.store.state.withLock({ $0.objects.keys.sorted() }) {
            let whole = stored.store.state.withLock { $0.objects[key]?.bytes }
            stored.store.state.withLock { $0.objects[key]?.bytes[0] ^= 1 }
            let outcome = try stored.push(readsBack: true)
            #expect((outcome.stored, outcome.repaired) == (1, 1), "\(key)")
            #expect(stored.store.state.withLock { $0.objects[key]?.bytes } == whole, "\(key)")
        }
        #expect(try stored.push(readsBack: true).repaired == 0)
        #expect(try stored.pull(digest).loaded == 4)
    }

    @Test func bodiesAreStoredOnceForAllCassettes() throws {
        let stored = try StoredCassette()
        _ = try stored.push()
        try stored.write(bodies: 0..<4, to: "more.json")
        // One new body, a cassette and a manifest.
        #expect(try stored.push("more.json").stored == 3)
        _ = try stored.pull(stored.pointer().digest)
        #expect(try stored.pull(stored.pointer("more.json").digest).loaded == 2)
    }

    @Test func serverWithoutConditionsGetsPlainWrites() throws {
        let stored = try StoredCassette()
        stored.store.state.withLock { $0.knowsConditions = false }
        #expect(try stored.push().stored == 5)
        #expect(try stored.pull(stored.pointer().digest).loaded == 4)
        // Asked once.
        let writes = stored.store.state.withLock { $0.log }.filter { $0.hasPrefix("PUT") }
        #expect(writes.count == 6)
    }

    /// The order of the writes: what names others comes after them.
    @Test func manifestIsWrittenAfterTheCassetteAndThatAfterItsBodies() throws {
        let stored = try StoredCassette()
        _ = try stored.push()
        let writes = stored.store.state.withLock { $0.log }.filter { $0.hasPrefix("PUT") }
        #expect(writes.prefix(3).allSatisfy { $0.hasSuffix(".bin") })
        #expect(writes[3].hasSuffix(".json.zst"))
        #expect(writes[4].hasPrefix("PUT manifests/"))
    }

    /// Whatever request is the last one of a push, there is no pointer to what is not whole, and the next push completes it.
    @Test func pushThatEndsAnywhereIsRepeated() throws {
        for last in 1... {
            let stored = try StoredCassette()
            stored.store.state.withLock { $0.fault = { number, _, _ in number > last ? .broken : nil } }
            let isWhole = (try? stored.push(tries: 1)) != nil
            #expect(stored.folder.exists("pets.json.tape") == isWhole)
            stored.store.state.withLock { $0.fault = nil }
            _ = try stored.push()
            let digest = try stored.pointer().digest
            _ = try stored.pull(digest)
            #expect(try stored.isWhole(digest, in: stored.cache()))
            if isWhole {
                #expect(last > 8)
                return
            }
        }
    }

    @Test func pullThatEndsAnywhereIsRepeated() throws {
        for last in 0... {
            let stored = try StoredCassette()
            let digest = try stored.push().pointer.digest
            stored.store.state.withLock { state in
                state.requests = 0
                state.fault = { number, _, _ in number > last ? .broken : nil }
            }
            let isWhole = (try? stored.pull(digest, tries: 1)) != nil
            #expect(try (stored.cache().use(digest) != nil) == isWhole)
            stored.store.state.withLock { $0.fault = nil }
            _ = try stored.pull(digest)
            #expect(try stored.isWhole(digest, in: stored.cache()))
            if isWhole {
                #expect(last == 5)
                return
            }
        }
    }

    @Test(arguments: [500, 503, 429]) func overloadedServerIsAskedAgain(status: Int) throws {
        let stored = try StoredCassette()
        // Each request fails once.
        let failed = Guarded<Set<String>>([])
        stored.store.state.withLock { state in
            state.fault = { _, method, key in
                failed.withLock { $0.insert("\(method) \(key)").inserted } ? .status(status, code: "SlowDown") : nil
            }
        }
        _ = try stored.push()
        failed.withLock { $0 = [] }
        _ = try stored.pull(stored.pointer().digest)
        #expect(try stored.isWhole(stored.pointer().digest, in: stored.cache()))
    }

    /// The answer is lost: the object is stored, and the repeat meets it.
    @Test func lostAnswersAreHarmless() throws {
        let stored = try StoredCassette()
        let failed = Guarded<Set<String>>([])
        stored.store.state.withLock { state in
            state.fault = { _, method, key in failed.withLock { $0.insert("\(method) \(key)").inserted } ? .brokenAfterwards : nil }
        }
        _ = try stored.push()
        stored.store.state.withLock { $0.fault = nil }
        _ = try stored.pull(stored.pointer().digest)
        #expect(try stored.isWhole(stored.pointer().digest, in: stored.cache()))
    }

    @Test(arguments: ["manifests/", ".json.zst", ".bin"]) func otherBytesThanTheNameSaysAreRefused(key: String) throws {
        let stored = try StoredCassette()
        let digest = try stored.push().pointer.digest
        stored.store.state.withLock { state in
            let keys = state.objects.keys.filter { $0.contains(key) }
            for key in keys { state.objects[key]?.bytes[0] ^= 1 }
        }
        let error = try #require(throws: StoreError.self) { try stored.pull(digest) }
        #expect(error.code == .damaged)
        #expect(try stored.cache().use(digest) == nil)
    }

    @Test func missingObjectIsNamedWithItsCommand() throws {
        let stored = try StoredCassette()
        let digest = try stored.push().pointer.digest
        let key = try #require(stored.store.state.withLock { $0.objects.keys.first { $0.hasSuffix(".bin") } })
        stored.store.state.withLock { $0.objects[key] = nil }
        let error = try #require(throws: StoreError.self) { try stored.pull(digest) }
        #expect(error.code == .notFound)
        #expect(error.message.contains(key) && error.message.contains("wiretape push"))
        #expect(try stored.cache().use(digest) == nil)
        // The next push notices, although the pointer is as it was.
        #expect(try stored.push().stored == 1)
        _ = try stored.pull(digest)
        #expect(try stored.isWhole(digest, in: stored.cache()))
    }

    @Test func objectThatVanishesDuringAPushIsStoredAgain() throws {
        let stored = try StoredCassette()
        _ = try stored.push()
        try stored.write(bodies: 0..<4, to: "more.json")
        // A collection removes a body that the push has found, right before the manifest is written.
        let victim = try #require(stored.store.state.withLock { $0.objects.keys.first { $0.hasSuffix(".bin") } })
        let isDone = Guarded(false)
        stored.store.state.withLock { state in
            state.before = { method, key, objects in
                guard method == "PUT", key.hasPrefix("manifests/"), !isDone.withLock({ $0 }) else { return }
                isDone.withLock { $0 = true }
                objects[victim] = nil
            }
        }
        _ = try stored.push("more.json")
        #expect(stored.store.state.withLock { $0.objects[victim] != nil })
        #expect(isDone.withLock { $0 })
    }

    /// A bomb: a kilobyte that unpacks to a hundred megabytes.
    @Test func compressedTextNeverUnpacksToMoreThanItsManifestNames() throws {
        let stored = try StoredCassette()
        let folder = stored.folder
        let big = try LocalFile.open(folder.write([UInt8](repeating: 0, count: 100 << 20), to: "big"))
        let packed = try LocalFile.update(folder.file("packed"))
        try Zstandard.compress(big, into: packed)
        let target = try LocalFile.update(folder.file("out"))
        let error = #expect(throws: StoreError.self) { try Zstandard.unpack(packed, into: target, limit: 1000) }
        #expect(error?.code == .damaged)
        #expect(try target.size() <= 1 << 20)
    }

    /// The last bytes fill the buffer of the unpacked text, which has 256 KiB.
    @Test(arguments: [(256 << 10) - 1, 256 << 10, (256 << 10) + 1, 1 << 20]) func textOfAnySizeIsUnpacked(size: Int) throws {
        let folder = try TemporaryFolder()
        let text = [UInt8](repeating: 65, count: size)
        let packed = try LocalFile.update(folder.file("packed"))
        try Zstandard.compress(LocalFile.open(folder.write(text, to: "text")), into: packed)
        let target = try LocalFile.update(folder.file("out"))
        let unpacked = try Zstandard.unpack(packed, into: target, limit: size)
        #expect((unpacked.size, Hex.encode(unpacked.digest)) == (size, Payload.digest(of: text)))
    }

    @Test func damagedCacheIsReplaced() throws {
        let stored = try StoredCassette()
        let digest = try stored.push().pointer.digest
        _ = try stored.pull(digest)
        let body = try #require(stored.folder.names(in: "cache/cassettes/\(digest)/pets.bodies").first)
        try stored.folder.write([1, 2, 3], to: "cache/cassettes/\(digest)/pets.bodies/\(body)")
        #expect(throws: StoreError.self) { try stored.cache().use(digest) }
        #expect(try stored.pull(digest).isRepaired)
        #expect(try stored.isWhole(digest, in: stored.cache()))
    }

    @Test func cassetteThatTheCacheCannotHoldIsNotLoaded() throws {
        let stored = try StoredCassette()
        let digest = try stored.push().pointer.digest
        let error = #expect(throws: StoreError.self) { try stored.pull(digest, into: stored.cache("small", limit: 1000)) }
        #expect(error?.code == .tooLarge)
        #expect(error?.message.contains("WIRETAPE_CACHE_LIMIT") == true)
        #expect(!stored.folder.exists("small/objects"))
    }

    @Test func cacheKeepsItsLimitAndWhatIsInUse() throws {
        let stored = try StoredCassette()
        let first = try stored.push().pointer.digest
        try stored.write(bodies: 10..<14, to: "more.json")
        let second = try stored.push("more.json").pointer.digest
        let cache = stored.cache(limit: 1000)
        _ = try stored.pull(first)
        _ = try stored.pull(second)
        let use = try #require(try cache.use(second))
        let contents = cache.tidy()
        #expect((contents.cassettes, contents.removed) == (1, 1))
        #expect(try cache.use(first) == nil)
        #expect(try cache.use(second)?.path == use.path)
        // Its bodies are gone with it, and those in use are not.
        #expect(contents.objects == 5)
    }

    @Test func changedCassetteGetsAnotherPointer() throws {
        let stored = try StoredCassette()
        let first = try stored.push().pointer
        try stored.folder.write([], to: "pets.json.new")
        try stored.write(bodies: 0..<5, to: "other.json")
        let text = try stored.folder.read("other.json").split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        try stored.folder.write(text.joined(separator: [10]), to: "pets.json")
        let second = try stored.push().pointer
        #expect(first.digest != second.digest)
        // Both stay readable.
        _ = try stored.pull(first.digest)
        _ = try stored.pull(second.digest)
    }
}
