internal import ArgumentParser
internal import CassetteModel
internal import CassetteTools
internal import Platform
internal import TapeBytes
internal import TapeProxy
internal import CassetteRemote

/// Checks the settings that say where a store is.
enum StoreSetting {
    static func address(_ text: String) throws -> String {
        do throws(StoreError) {
            _ = try StoreAddress(text)
        } catch {
            throw SettingError(error.message)
        }
        return text
    }

    static func endpoint(_ text: String) throws -> String {
        do throws(StoreError) {
            _ = try ServerAddress(text)
        } catch {
            throw SettingError(error.message)
        }
        return text
    }
}

/// Where the store is, for the commands that use it.
struct StoreOptions: ParsableArguments {
    @OptionGroup var place: SettingOptions<StoreGroup>

    @Option(help: ArgumentHelp("How many requests are made at once.", valueName: "number"))
    var jobs = 16

    @OptionGroup(title: "Configuration file") var config: ConfigOptions

    func validate() throws {
        guard (1...64).contains(self.jobs) else { throw ValidationError("--jobs takes 1 to 64.") }
    }

    /// The configuration's settings, and these over them.
    func settings() throws -> RunSettings {
        self.place.lay(over: try self.config.file()?.settings ?? RunSettings())
    }

    func client() throws -> StoreClient { try StoreAccess.client(self.settings()) }
}

/// Makes clients and the cache from settings and the environment.
enum StoreAccess {
    static func variable(_ name: String) -> String? {
        guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
        return value
    }

    static func cache() throws(StoreError) -> CassetteCache { try CassetteCache(variables: self.variable) }

    /// - Parameter address: a store that is named in place of the settings' one.
    static func client(_ settings: RunSettings, at address: StoreAddress? = nil) throws(StoreError) -> StoreClient {
        let environment = AWSEnvironment.system
        let named = try settings.value(Settings.store).map { (text) throws(StoreError) in try StoreAddress(text) }
        guard let address = address ?? named else {
            throw StoreError(
                .settings, "there is no store: write \"store: s3://BUCKET/PREFIX\" into wiretape.yaml, or pass --store.")
        }
        let store = try StoreSettings(
            address: address, endpoint: settings.value(Settings.endpoint) ?? environment.endpoint,
            region: settings.value(Settings.region) ?? environment.region,
            usesPathStyle: settings.value(Settings.pathStyle))
        var credentials: Credentials?
        if case .bucket = address.place { credentials = try environment.credentials() }
        return StoreClient(store, credentials: credentials)
    }
}

/// A line on the terminal that shows how far the work of several threads is.
final class StoreProgress: Sendable {
    private let label: String
    private let shown = Guarded(-1)

    init(_ label: String) { self.label = label }

    func show(_ done: Int, of count: Int) {
        guard Terminal.error.isTerminal, count > 0 else { return }
        let percent = done * 100 / count
        self.shown.withLock { shown in
            guard percent != shown else { return }
            shown = percent
            Terminal.error.write("\r\u{1B}[K\(VisibleText.line(self.label)) \(done) of \(count) (\(percent) %)")
        }
    }

    func end() {
        self.shown.withLock { shown in
            guard shown >= 0 else { return }
            shown = -1
            Terminal.error.write("\r\u{1B}[K")
        }
    }
}

/// Files on the command line: cassettes, pointers, and folders of them.
enum StorePaths {
    /// The folders that are not searched.
    private static func isSkipped(_ name: String) -> Bool { name.hasPrefix(".") || name.hasSuffix(".bodies") || name == "node_modules" }

    /// The pointers that paths name; those of all folders below, for a folder.
    ///
    /// - Returns: the paths of cassettes, without `.tape`.
    static func cassettes(_ paths: [String], pointers: Bool) throws -> [String] {
        var found: [String] = []
        for path in paths {
            if self.isFolder(path) {
                self.search(path == "." ? "" : path.hasSuffix("/") ? path : path + "/", pointers: pointers, &found)
                continue
            }
            let cassette = CassettePointer.isPointer(path) ? String(path.dropLast(CassettePointer.suffix.count)) : path
            let needed = pointers ? CassettePointer.path(of: cassette) : cassette
            guard access(needed, F_OK) == 0 else {
                throw StoreError(
                    .notFound,
                    pointers
                        ? "there is no pointer \"\(needed)\": push the cassette with \"wiretape push \(cassette)\", or check the path."
                        : "there is no cassette \"\(needed)\": check the path.")
            }
            found.append(cassette)
        }
        var seen: Set<String> = []
        return found.filter { seen.insert($0).inserted }
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func search(_ folder: String, pointers: Bool, _ found: inout [String]) {
        guard let stream = opendir(folder.isEmpty ? "." : folder) else { return }
        var names: [String] = []
        while let entry = readdir(stream) {
            // SAFETY: readdir's name is NUL-terminated and valid until the next call.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) { String(cString: $0) }
            }
            if !self.isSkipped(name) { names.append(name) }
        }
        closedir(stream)
        for name in names.sorted() {
            let path = folder + name
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: self.search(path + "/", pointers: pointers, &found)
            case S_IFREG where pointers && CassettePointer.isPointer(name):
                found.append(String(path.dropLast(CassettePointer.suffix.count)))
            case S_IFREG where !pointers && name.hasSuffix(".json") && self.isCassette(path): found.append(path)
            default: break
            }
        }
    }

    /// By the beginning of the file.
    private static func isCassette(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return false }
        let text = String(decoding: bytes.prefix(count), as: UTF8.self).filter { $0 != " " && $0 != "\n" && $0 != "\t" && $0 != "\r\n" }
        return text.hasPrefix("{\"wiretape\":")
    }
}
