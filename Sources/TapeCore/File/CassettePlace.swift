#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Where cassettes lie: whether one is there, and putting one into the place of another.
public enum CassettePlace {
    /// Whether there is anything of that name, a damaged file or a dangling link too.
    public static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// Puts a file into the place of another in the same folder, so that a crash leaves the one or the other.
    public static func replace(_ old: String, with new: String) throws(CassetteError) {
        guard rename(new, old) == 0 else {
            throw CassetteError(
                .unwritable,
                "\"\(new)\" cannot take the place of \"\(old)\" (\(String(cString: strerror(errno)))): the recording is in \"\(new)\".")
        }
        try OpenFolder(FileLocation(old).folder).synchronize()
    }

    /// Takes away a cassette that never came to hold anything.
    public static func remove(_ path: String) throws(CassetteError) {
        let location = FileLocation(path)
        try OpenFolder(location.folder).remove(location.name)
    }

    /// The cassette itself and the recordings beside it that were never taken over, as far as they are there.
    public static func family(of path: String) -> [String] {
        ([path] + self.namesBeside(path)).filter(self.exists)
    }

    private static func namesBeside(_ path: String) -> [String] {
        let stem = path.hasSuffix(".json") ? String(path.dropLast(5)) : path
        return (1...100).map { $0 == 1 ? "\(stem).new.json" : "\(stem).new-\($0).json" }
    }

    /// A free name beside a cassette: `pets.new.json`, then `pets.new-2.json`.
    public static func freeName(beside path: String) throws(CassetteError) -> String {
        for name in self.namesBeside(path) where !self.exists(name) { return name }
        throw CassetteError(
            .unwritable, "there are 100 recordings beside \"\(path)\" that were never taken over: look at them and remove them.")
    }
}
