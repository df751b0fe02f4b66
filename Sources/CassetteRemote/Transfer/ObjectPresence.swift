internal import TapeBytes

/// Which objects of a list are in a store, and since when.
struct ObjectPresence {
    struct Entry: Sendable {
        var size: Int
        /// Seconds since 1970.
        var modified: Int
    }

    /// From this many objects of one folder, a listing is tried: it takes a page for each thousand objects of the store, and a question
    /// for each object takes one for each object of the list.
    private static let listedCount = 64
    /// How many questions one page of a listing may save at least.
    private static let pageWorth = 32

    private(set) var entries: [ObjectName: Entry] = [:]

    /// - Parameter progress: called with the number of objects that are decided.
    init(
        of objects: [ObjectName], in client: StoreClient, threads: Int, progress: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws(StoreError) {
        let entries = Guarded<[ObjectName: Entry]>([:])
        let wanted = Set(objects)
        var open = Array(wanted)
        if wanted.count >= Self.listedCount {
            // Each object is decided by the listing if that gets to its end.
            var pages = max(2, wanted.count / Self.pageWorth)
            var isWhole = true
            for folder in Set(wanted.map(\.folder)).sorted() {
                try client.list("\(folder)/") { (page) throws(StoreError) in
                    for object in page {
                        guard let name = ObjectName(path: object.name), wanted.contains(name) else { continue }
                        entries.withLock {
                            $0[name] = Entry(size: object.size, modified: Int(object.modified.microseconds / 1_000_000))
                        }
                    }
                    pages -= 1
                    if pages < 0 { isWhole = false }
                    return pages >= 0
                }
            }
            let found = entries.withLock { $0 }
            open = isWhole ? [] : open.filter { found[$0] == nil }
            progress(wanted.count - open.count)
        }
        let decided = Guarded(wanted.count - open.count)
        try ParallelWork.run(open.sorted { $0.path < $1.path }, threads: threads) { (object) throws(StoreError) in
            if let head = try client.head(object.path) {
                entries.withLock { $0[object] = Entry(size: head.size, modified: head.modified) }
            }
            progress(
                decided.withLock { count in
                    count += 1
                    return count
                })
        }
        self.entries = entries.withLock { $0 }
    }
}
