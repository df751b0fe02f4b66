internal import ArgumentParser
internal import CassetteModel
internal import CassetteStore
internal import Platform
internal import TapeBytes
internal import TapeProxy
internal import CassetteRemote

/// A command whose cassettes may be pointers to a store.
protocol ReadsCassettes: HasFailureStatus {
    /// Whether a cassette that the cache does not have may be fetched.
    var fetching: FetchOptions { get }
    mutating func forEachCassette(_ change: (inout String) throws -> Void) rethrows
    /// Replaces names that stand for several cassettes; nothing, if the command takes no number of them.
    mutating func expand(_ cassettes: (String) throws -> [String]) rethrows
}

extension ReadsCassettes {
    static var failure: Int32 { ExitStatus.failed }
    mutating func expand(_ cassettes: (String) throws -> [String]) rethrows {}
}

/// Whether a command may fetch a cassette.
struct FetchOptions: ParsableArguments {
    @Flag(help: "Fetch a cassette that a pointer names, if the cache does not have it. Default: \"fetch\" of wiretape.yaml.")
    var fetch = false
}

/// Replaces pointers, and addresses of cassettes in stores, by the files of the cache.
enum CassettePointers {
    /// The cassettes of this process, which stay in the cache until it ends.
    private static let used = Guarded<[CassetteCache.Use]>([])

    /// Whether a path names a pointer or a cassette in a store, not a local cassette that may have a pointer.
    static func isNamed(_ path: String) -> Bool {
        return RemoteCassette.isRemote(path) || CassettePointer.isPointer(path)
    }

    /// The name of the cassette that a pointer stands for.
    static func cassette(of path: String) -> String {
        if CassettePointer.isPointer(path) { return String(path.dropLast(CassettePointer.suffix.count)) }
        return path
    }

    static func resolve(in command: inout some ReadsCassettes) throws {
        let (fetches, failure) = (command.fetching.fetch, type(of: command).failure)
        try command.expand { path in
            try CareCommand.run(failure: failure) {
                guard let (address, run) = try ShardedRun.named(path) else { return [path] }
                return try self.files(of: run, at: address)
            }
        }
        try command.forEachCassette { path in
            path = try CareCommand.run(failure: failure) { try self.file(for: path, fetches: fetches, config: nil) }
        }
    }

    /// The file of a cassette.
    ///
    /// - Parameters:
    ///   - path: a cassette, a pointer, a cassette of which only the pointer is there, or `s3://BUCKET/PREFIX@DIGEST`.
    ///   - fetches: whether to fetch it if the cache does not have it.
    ///   - config: which configuration file says where the store is; nil for the nearest one.
    static func file(for path: String, fetches: Bool, config: ConfigOptions?) throws -> String {
        let digest: String
        var address: StoreAddress?
        var name = path
        if RemoteCassette.isRemote(path) {
            let remote = try RemoteCassette(path)
            (digest, address) = (remote.digest, remote.address)
        } else if CassettePointer.isPointer(path) {
            digest = try CassettePointer(path: path).digest
        } else {
            let pointer = CassettePointer.path(of: path)
            guard access(pointer, F_OK) == 0 else { return path }
            if try self.isCurrent(path, pointer) { return path }
            digest = try CassettePointer(path: pointer).digest
            name = pointer
        }
        let cache = try StoreAccess.cache()
        var settings: RunSettings?
        func settingsInForce() throws -> RunSettings {
            if let settings { return settings }
            let file: ConfigFile?
            if let config {
                file = try config.file()
            } else {
                file = try ConfigSearch.system.path().map { path throws(SettingError) in try ConfigFile(path: path) }
            }
            let found = file?.settings ?? RunSettings()
            settings = found
            return found
        }
        do throws(StoreError) {
            if let use = try cache.use(digest) { return self.keep(use) }
        } catch {
            guard error.code == .damaged else { throw error }
            guard try fetches || settingsInForce().value(Settings.fetch) == true else {
                throw StoreError(.damaged, "\(error.message) Run \"wiretape pull \(name)\", which replaces it.")
            }
        }
        guard try fetches || settingsInForce().value(Settings.fetch) == true else {
            throw StoreError(
                .notFound,
                "the cassette of \"\(name)\" is not in the cache (\(cache.folder)): run \"wiretape pull \(name)\", or pass --fetch.")
        }
        let client = try StoreAccess.client(settingsInForce(), at: address)
        let progress = StoreProgress("pulling \(name)")
        defer { progress.end() }
        _ = try CassettePull(client: client, cache: cache, threads: 16).pull(digest, as: name) { progress.show($0, of: $1) }
        guard let use = try cache.use(digest) else {
            throw StoreError(.damaged, "the cassette of \"\(name)\" was removed from the cache at once: raise WIRETAPE_CACHE_LIMIT.")
        }
        return self.keep(use)
    }

    /// The files of all cassettes of a run, which are fetched: that is what naming a run asks for.
    private static func files(of run: ShardedRun, at address: StoreAddress) throws -> [String] {
        let file = try ConfigSearch.system.path().map { path throws(SettingError) in try ConfigFile(path: path) }
        let client = try StoreAccess.client(file?.settings ?? RunSettings(), at: address)
        let cache = try StoreAccess.cache()
        return try run.pointers(in: client).map { pointer in
            let name = "\(client.address)@\(pointer.digest)"
            let progress = StoreProgress("pulling \(name)")
            defer { progress.end() }
            _ = try CassettePull(client: client, cache: cache, threads: 16).pull(pointer.digest, as: name) { progress.show($0, of: $1) }
            guard let use = try cache.use(pointer.digest) else {
                throw StoreError(.damaged, "\"\(name)\" was removed from the cache at once: raise WIRETAPE_CACHE_LIMIT.")
            }
            return self.keep(use)
        }
    }

    private static func keep(_ use: CassetteCache.Use) -> String {
        self.used.withLock { $0.append(use) }
        return use.path
    }

    /// Whether a local cassette is used although there is a pointer: if it is what the pointer names, or newer.
    ///
    /// - Throws: if it is older and differs, because then a merge or a checkout has brought another cassette.
    private static func isCurrent(_ path: String, _ pointer: String) throws -> Bool {
        var (own, other) = (stat(), stat())
        guard stat(path, &own) == 0, stat(pointer, &other) == 0 else { return false }
        let named = try CassettePointer(path: pointer)
        guard try Payload(file: LocalFile.open(path)).sha256 != named.textDigest else { return true }
        #if canImport(Darwin)
        let isNewer = (own.st_mtimespec.tv_sec, own.st_mtimespec.tv_nsec) >= (other.st_mtimespec.tv_sec, other.st_mtimespec.tv_nsec)
        #else
        let isNewer = (own.st_mtim.tv_sec, own.st_mtim.tv_nsec) >= (other.st_mtim.tv_sec, other.st_mtim.tv_nsec)
        #endif
        guard isNewer else {
            throw StoreError(
                .conflict,
                "\"\(path)\" is older than \"\(pointer)\", and is not the cassette that it names: remove it to use that one, pass the pointer's name, or store it with \"wiretape push \(path)\"."
            )
        }
        Terminal.error.complain("\"\(path)\" has changed since it was pushed: it is used as it is. \"wiretape push \(path)\" stores it.")
        return true
    }
}
