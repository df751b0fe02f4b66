import TapeBytes
import Testing

@testable import CassetteRemote

struct StoreClientTests {
    private let store = MemoryStore()

    private func fault(_ fault: MemoryStore.Fault) { self.store.state.withLock { $0.fault = { _, _, _ in fault } } }

    @Test(arguments: [301, 302, 307, 308]) func redirectsAreRefused(status: Int) throws {
        self.fault(.status(status, code: "PermanentRedirect"))
        let error = #expect(throws: StoreError.self) { try self.store.client().bytes("objects/x", limit: 10) }
        #expect(error?.code == .refused)
        #expect(self.store.state.withLock { $0.requests } == 1)
    }

    @Test func errorsNameTheReasonAndNeverTheSecret() throws {
        let cases: [(Int, String?, StoreErrorCode, String)] = [
            (403, "SignatureDoesNotMatch", .denied, "AWS_SECRET_ACCESS_KEY"), (403, "InvalidAccessKeyId", .denied, "profile"),
            (400, "ExpiredToken", .denied, "new credentials"), (400, "AuthorizationHeaderMalformed", .denied, "region"),
            (403, "AccessDenied", .denied, "store check"), (404, "NoSuchBucket", .notFound, "bucket"), (500, nil, .busy, "3 tries"),
        ]
        for (status, code, wanted, words) in cases {
            self.fault(.status(status, code: code))
            let error = try #require(throws: StoreError.self) { try self.store.client().bytes("objects/x", limit: 10) }
            #expect(error.code == wanted)
            #expect(error.message.contains(words), "\(error.message)")
            #expect(!error.message.contains("hush") && !error.message.contains("KEY/"))
        }
    }

    /// The code comes from the server: anything but a plain word is left out.
    @Test func serversTextIsNotPrinted() throws {
        self.fault(.status(403, code: "<b>&#27;[2J"))
        let error = try #require(throws: StoreError.self) { try self.store.client().bytes("objects/x", limit: 10) }
        #expect(!error.message.contains("[2J"))
    }

    @Test func overloadEndsAfterItsTries() throws {
        self.fault(.status(503, code: "SlowDown"))
        #expect(throws: StoreError.self) { try self.store.client(tries: 4).head("objects/x") }
        #expect(self.store.state.withLock { $0.requests } == 4)
    }

    @Test func wrongClockIsLearntFromTheServer() throws {
        self.store.state.withLock { state in
            state.objects["objects/x"] = MemoryStore.Object(bytes: [1], modified: 1)
            state.now += 3600
            state.fault = { number, _, _ in number == 1 ? .status(403, code: "RequestTimeTooSkewed") : nil }
        }
        #expect(try self.store.client().head("objects/x")?.size == 1)
        #expect(self.store.state.withLock { $0.requests } == 2)
    }

    @Test func listingComesInPages() throws {
        self.store.state.withLock { state in
            for number in 0..<8 { state.objects["objects/\(number)"] = MemoryStore.Object(bytes: [1], modified: number) }
        }
        var names: [String] = []
        try self.store.client().list("objects/") { (page) throws(StoreError) in
            names += page.map(\.name)
            return true
        }
        #expect(names == (0..<8).map { "objects/\($0)" })
        #expect(self.store.state.withLock { $0.requests } == 3)
    }

    private static func list(_ body: String, isTruncated: Bool = true, token: String? = "t") -> MemoryStore.Fault {
        let next = token.map { "<NextContinuationToken>\($0)</NextContinuationToken>" } ?? ""
        return .bytes(Array("<ListBucketResult><IsTruncated>\(isTruncated)</IsTruncated>\(next)\(body)</ListBucketResult>".utf8))
    }

    private static func entry(_ key: String, size: String = "1", modified: String = "2026-11-21T00:00:00Z") -> String {
        "<Contents><Key>\(key)</Key><LastModified>\(modified)</LastModified><Size>\(size)</Size></Contents>"
    }

    @Test(arguments: [
        // The same page again and again; keys that were not asked for; out of order; no token; not a listing.
        Self.list(Self.entry("objects/a")), Self.list(Self.entry("secrets/a")),
        Self.list(Self.entry("objects/b") + Self.entry("objects/a")),
        Self.list("", token: nil), Self.list(""), .bytes(Array("<html>".utf8)), .bytes([]), Self.list(Self.entry("objects/a", size: "-1")),
        Self.list(Self.entry("objects/a", modified: "yesterday")),
    ]) func endlessAndForeignListingsAreRefused(answer: MemoryStore.Fault) throws {
        self.fault(answer)
        let error = #expect(throws: StoreError.self) { try self.store.client().list("objects/") { (_) throws(StoreError) in true } }
        #expect(error?.code == .damaged)
        #expect(self.store.state.withLock { $0.requests } <= 2)
    }

    /// Each page has a new token and the next key.
    @Test func aListWhoseKeysGoOnForEverIsRefused() throws {
        self.store.state.withLock { state in
            state.fault = { number, _, _ in Self.list(Self.entry("objects/\(100_000 + number)"), token: "t\(number)") }
        }
        var count = 0
        let error = #expect(throws: StoreError.self) {
            try self.store.client().list("objects/") { (page) throws(StoreError) in
                count += page.count
                return count < 10_000
            }
        }
        #expect(error?.message.contains("has no end") == true && count < 1_000)
    }

    @Test func emptyPagesWithinAListAreSkipped() throws {
        self.store.state.withLock { state in
            state.fault = { number, _, _ in
                let entry = number % 3 == 0 ? Self.entry("objects/\(100_000 + number)") : ""
                return Self.list(entry, isTruncated: number < 30, token: number < 30 ? "t\(number)" : nil)
            }
        }
        var count = 0
        try self.store.client().list("objects/") { (page) throws(StoreError) in
            count += page.count
            return true
        }
        #expect(count == 10)
    }
}
