internal import CassetteRemote
internal import CassetteStore
internal import CassetteTools
internal import Platform

/// The pointers in a git repository's commits, by git itself.
struct GitPointers {
    /// Of git's own output; a tree with more text is refused.
    private static let limit = 256 << 20
    private static let seconds: Int32 = 600

    /// The digests of all pointers in the commits of these refs, each with a name for messages.
    ///
    /// - Parameter refs: empty for all branches, tags and remote branches.
    /// - Throws: if anything cannot be read: a pointer that is overlooked would lose its cassette.
    static func digests(refs: [String]) throws(StoreError) -> [String: String] {
        let shallow = try self.git(["rev-parse", "--is-shallow-repository"])
        guard !shallow.hasPrefix("true") else {
            throw StoreError(
                .refused,
                "this clone is shallow, so that branches may be missing: nothing was removed. Run this in a clone with all branches and tags."
            )
        }
        var commits: [String: String] = [:]
        if refs.isEmpty {
            for line in try self.git(["for-each-ref", "--format=%(objectname) %(refname)"]).split(separator: "\n") {
                let words = line.split(separator: " ", maxSplits: 1)
                if words.count == 2 { commits[String(words[0])] = String(words[1]) }
            }
            // None in a repository without a commit.
            if let result = ProgramOutput.text(of: "git", ["git", "rev-parse", "--verify", "--quiet", "HEAD"]), result.status == 0 {
                let head = String(decoding: result.output, as: UTF8.self).filter { $0 != "\n" }
                commits[head] = commits[head] ?? "HEAD"
            }
        }
        for ref in refs {
            guard !ref.hasPrefix("-") else {
                throw StoreError(.settings, "\"\(ref)\" is not the name of a ref: write for example origin/main.")
            }
            let id = try self.git(["rev-parse", "--verify", "--end-of-options", "\(ref)^{commit}"]).filter { $0 != "\n" }
            commits[id] = ref
        }
        var blobs: [String: String] = [:]
        for (commit, ref) in commits.sorted(by: { $0.key < $1.key }) {
            for entry in try self.git(["ls-tree", "-r", "-z", "--full-tree", commit]).split(separator: "\0") {
                // MODE SP TYPE SP ID TAB PATH
                guard let tab = entry.firstIndex(of: "\t") else { continue }
                let path = entry[entry.index(after: tab)...]
                guard CassettePointer.isPointer(String(path)) else { continue }
                let words = entry[..<tab].split(separator: " ")
                guard words.count == 3, words[1] == "blob" else { continue }
                blobs[String(words[2])] = "\"\(path)\" of \(ref)"
            }
        }
        return try self.read(blobs)
    }

    private static func read(_ blobs: [String: String]) throws(StoreError) -> [String: String] {
        var digests: [String: String] = [:]
        for (id, name) in blobs.sorted(by: { $0.key < $1.key }) {
            let text = try self.git(["cat-file", "blob", id])
            digests[try CassettePointer(Array(text.utf8), path: name).digest] = name
        }
        return digests
    }

    private static func git(_ words: [String]) throws(StoreError) -> String {
        guard let result = ProgramOutput.text(of: "git", ["git"] + words, seconds: self.seconds, limit: self.limit) else {
            throw StoreError(.unsupported, "git cannot be run, or did not end: install it, and run this in the repository.")
        }
        guard result.status == 0, result.output.count < self.limit else {
            throw StoreError(
                .unsupported,
                "\"git \(words.joined(separator: " "))\" failed (\(result.status)): nothing was removed. Run this in the repository with the pointers."
            )
        }
        return String(decoding: result.output, as: UTF8.self)
    }
}
