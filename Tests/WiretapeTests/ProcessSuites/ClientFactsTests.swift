import Testing

/// The behaviour of this toolchain's URLSession, and the behaviour of Wiretape in its place, each in a process of its own.
///
/// A fact that changes with a toolchain fails here, so that the code that works around it can be reconsidered.
@Suite struct ClientFactsTests {
    private static let refusal =
        #"fails: "GET http://probe.invalid/path" cannot be answered: a download task crashes on Linux if anything but URLSession answers it: use a data task, a DownloadRequest of Wiretape, or the proxy ("wiretape record")"#

    /// The name, the result of URLSession, and the result of Wiretape, which is nil where the only way is to avoid the call.
    ///
    /// Measured with Swift 6.3.1 on Linux. The results for other platforms come from the source, and have not been run.
    private static let table: [(name: String, fact: ProbeProcess.Ending, safe: ProbeProcess.Ending?)] = [
        ("redirect-call", .dies, .says(#"200 /next "hello""#)),
        ("download-by-delegate", .dies, .says(refusal)),
        ("download-by-await", .dies, .says(refusal)),
        ("download-by-handler", .says("file missing, error missing"), .says(refusal)),
        ("headless-by-await", .dies, .says("error NSURLErrorDomain -1")),
        ("call-after-cancel", .dies, .says("error NSURLErrorDomain -999")),
        ("task-while-loading", .dies, .says(#"200 /path "inner""#)),
        ("upload-of-nil", .dies, nil),
        ("stream-error", .dies, .says(#"200 /path "body""#)),
        ("trailers", trailersEnd, .says(#"200 /path "hello""#)),
        ("task-on-invalidated", .dies, nil),
        ("unauthorized", unauthorizedEnds, .says(#"401 /path "denied""#)),
        ("unauthorized-with-credential", .says("error NSURLErrorDomain -1003"), .says(#"pieces ["denied"]"#)),
        ("pieces-by-await", .says(#"200 /path "ghi""#), .says(#"200 /path "abcdefghi""#)),
        ("upload-of-data", .says(#"200 /path "nothing seen""#), .says(#"200 /path "body""#)),
    ]

    #if compiler(>=6.3.2)
    private static let unauthorizedEnds = ProbeProcess.Ending.says(#"401 /path "denied""#)
    #else
    private static let unauthorizedEnds = ProbeProcess.Ending.hangs
    #endif

    #if compiler(>=6.4)
    private static let trailersEnd = ProbeProcess.Ending.says("error NSURLErrorDomain -1")
    #else
    private static let trailersEnd = ProbeProcess.Ending.dies
    #endif

    #if canImport(FoundationNetworking)
    @Test(arguments: table.indices) func factsOfURLSession(index: Int) async throws {
        let row = Self.table[index]
        // A process that ends does so at once.
        let seconds: Double = row.fact == .hangs ? 3 : 60
        #expect(try await ProbeProcess.run("fact", row.name, seconds: seconds).ending == row.fact, "\(row.name)")
    }

    @Test(arguments: table.indices) func safeWaysOfWiretape(index: Int) async throws {
        let row = Self.table[index]
        guard let safe = row.safe else { return }
        #expect(try await ProbeProcess.run("safe", row.name).ending == safe, "\(row.name)")
    }

    @Test func aStreamOfTheDelegateIsRead() async throws {
        #expect(try await ProbeProcess.run("safe", "upload-of-stream").ending == .says(#"pieces ["streamed"]"#))
    }

    /// Needs a process of its own: if the reads block the threads of tasks, nothing in the process can continue.
    @Test func streamsThatWaitForTasksHoldNoneUp() async throws {
        #expect(try await ProbeProcess.run("safe", "uploads-fed-by-tasks", seconds: 20).ending == .says("all"))
    }

    @Test func theTableHasEveryCase() async throws {
        let facts = Self.table.map { "fact \($0.name)" }
        let ways = Self.table.filter { $0.safe != nil }.map { "safe \($0.name)" } + ["safe upload-of-stream", "safe uploads-fed-by-tasks"]
        guard case .says(let list) = try await ProbeProcess.run("list").ending else {
            Issue.record("the probe has no list")
            return
        }
        #expect(list.split(separator: "\n").map(String.init).sorted() == (facts + ways).sorted())
    }
    #endif
}
