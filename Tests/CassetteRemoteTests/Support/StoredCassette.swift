import CassetteModel
import CassetteStore
import TapeBytes
import TapeTestSupport

@testable import CassetteRemote

/// A folder with a cassette that has bodies in files, and caches.
struct StoredCassette {
    let folder: TemporaryFolder
    let store = MemoryStore()
    var path: String { self.folder.file("pets.json") }

    init(bodies: Int = 3) throws {
        self.folder = try TemporaryFolder()
        try self.write(bodies: 0..<bodies, to: "pets.json")
    }

    /// Writes a cassette with a file for each number.
    func write(bodies: Range<Int>, to name: String) throws {
        let stem = name.dropLast(5)
        let interactions = try bodies.map { number in
            let bytes = Array("body \(number) ".utf8) + [UInt8](repeating: UInt8(number & 0xff), count: 20_000)
            let digest = Payload.digest(of: bytes)
            let path = "\(stem).bodies/\(digest).bin"
            try self.folder.write(bytes, to: path)
            return Interaction.sample(
                number + 1, at: Int64(number), "GET", "http://a/\(number)", type: "application/octet-stream",
                body: Body(size: bytes.count, content: .file(Sidecar(path: path, size: bytes.count, sha256: digest))))
        }
        try RecordedExchanges.write(interactions, to: self.folder.file(name))
    }

    func cache(_ name: String = "cache", limit: Int = 1 << 30) -> CassetteCache {
        CassetteCache(folder: self.folder.file(name), limit: limit)
    }

    func push(_ name: String = "pets.json", tries: Int = 3, readsBack: Bool = false) throws -> CassettePush.Outcome {
        try CassettePush(client: self.store.client(tries: tries), cache: self.cache(), threads: 1, tool: "test", readsBack: readsBack).push(
            self.folder.file(name), isDry: false)
    }

    func pull(_ digest: String, into cache: CassetteCache? = nil, tries: Int = 3) throws -> CassettePull.Outcome {
        try CassettePull(client: self.store.client(tries: tries), cache: cache ?? self.cache(), threads: 1).pull(digest, as: "pets")
    }

    func pointer(_ name: String = "pets.json") throws -> CassettePointer {
        try CassettePointer(path: CassettePointer.path(of: self.folder.file(name)))
    }

    /// Whether the cassette in the cache has the bytes of the local one, with all bodies.
    func isWhole(_ digest: String, in cache: CassetteCache) throws -> Bool {
        guard let use = try cache.use(digest, checksAll: true) else { return false }
        guard try TemporaryFolder.contents(use.path) == self.folder.read("pets.json") else { return false }
        let bodies = String(use.path.dropLast(5)) + ".bodies"
        return try self.folder.names(in: "pets.bodies").allSatisfy {
            try TemporaryFolder.contents("\(bodies)/\($0)") == self.folder.read("pets.bodies/\($0)")
        }
    }
}
