package import CassetteModel
internal import Platform
internal import TapeBytes

/// The system calls that move bytes between memory and disk, and those that name and remove files, as values, so that a test can make each
/// of them fail, or inspect the state during a call.
///
/// A result is the return value of the call, or the negated `errno`.
package struct DiskCalls: Sendable {
    package var read: @Sendable (_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, _ offset: Int) -> Int
    package var write: @Sendable (_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Int
    package var truncate: @Sendable (_ descriptor: Int32, _ size: Int) -> Int
    package var synchronize: @Sendable (_ descriptor: Int32) -> Int
    /// Syncs all files on the file system of an open folder in one call; ENOSYS if there is no such call.
    package var synchronizeFileSystem: @Sendable (_ folder: Int32) -> Int
    /// Removes a file by its name in an open folder.
    package var remove: @Sendable (_ folder: Int32, _ name: String) -> Int
    /// Gives a file a second name in the same folder.
    package var link: @Sendable (_ folder: Int32, _ name: String, _ second: String) -> Int

    package static let system = DiskCalls(
        read: { descriptor, bytes, offset in
            let count = pread(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
            return count < 0 ? -Int(errno) : count
        },
        write: { descriptor, bytes, offset in
            let count = pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
            return count < 0 ? -Int(errno) : count
        },
        truncate: { descriptor, size in
            ftruncate(descriptor, off_t(size)) < 0 ? -Int(errno) : 0
        },
        synchronize: { descriptor in
            #if canImport(Darwin)
            // On macOS, fsync alone leaves the data in the drive's cache.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return 0 }
            return fsync(descriptor) < 0 ? -Int(errno) : 0
            #else
            return fdatasync(descriptor) < 0 ? -Int(errno) : 0
            #endif
        },
        synchronizeFileSystem: { folder in
            #if os(Linux)
            return systemSyncfs(folder) < 0 ? -Int(errno) : 0
            #else
            return -Int(ENOSYS)
            #endif
        },
        remove: { folder, name in
            unlinkat(folder, name, 0) < 0 ? -Int(errno) : 0
        },
        link: { folder, name, second in
            linkat(folder, name, folder, second, 0) < 0 ? -Int(errno) : 0
        })
}

#if os(Linux)
/// syncfs(2), which Glibc's module map omits. C and Swift have the same calling convention for integers.
@_silgen_name("syncfs")
private func systemSyncfs(_ folder: CInt) -> CInt
#endif

/// An `errno` of one operation on one file, reported as a `CassetteError`.
package struct SystemError {
    package enum Operation: String {
        case open, create, read, write, truncate, sync, lock, rename, link, remove, list
    }

    package var number: Int32
    package var operation: Operation
    package var path: String

    package init(number: Int32, operation: Operation, path: String) {
        self.number = number
        self.operation = operation
        self.path = path
    }

    /// The error for people: what failed, for which file, why, and what to do next.
    package var cassetteError: CassetteError {
        let what = "cannot \(self.operation.rawValue) \"\(self.path)\""
        return CassetteError(self.code, "\(what): \(self.reason) (\(Self.name(self.number))); \(self.nextStep)")
    }

    private var code: CassetteError.Code {
        switch self.number {
        case ENOSPC, EDQUOT, EFBIG: return .noSpace
        case ENOENT: return .notFound
        case ELOOP: return .unsafePath
        case EWOULDBLOCK where self.operation == .lock: return .inUse
        default:
            switch self.operation {
            case .open, .read, .list: return .unreadable
            case .create, .write, .truncate, .sync, .lock, .rename, .link, .remove: return .unwritable
            }
        }
    }

    private var reason: String {
        switch self.number {
        case ENOSPC: return "no space left on the disk"
        case EDQUOT: return "the disk quota is used up"
        case EFBIG: return "the file would be larger than allowed here"
        case ENOENT: return "there is no such file or folder"
        case ELOOP: return "it is a symbolic link, which is not followed"
        case EACCES, EPERM: return "not permitted"
        case EROFS: return "the file system is read-only"
        case EEXIST: return "it exists already"
        case EISDIR: return "it is a folder"
        case ENOTDIR: return "a part of the path is not a folder"
        case EMFILE, ENFILE: return "too many open files"
        case ENAMETOOLONG: return "the name is too long"
        case EIO: return "the disk reported an error"
        case EWOULDBLOCK where self.operation == .lock: return "another recorder is writing it"
        default: return "the system refused"
        }
    }

    private var nextStep: String {
        switch self.number {
        case ENOSPC, EDQUOT: return "free some space"
        case EFBIG: return "raise the limit (ulimit -f) or start another cassette"
        case ENOENT: return "check the path"
        case ELOOP: return "name the file itself, or remove the link"
        case EACCES, EPERM: return "check the owner and the mode of the file and its folder"
        case EROFS: return "choose another folder"
        case EEXIST: return "choose another name, or remove it first"
        case EISDIR, ENOTDIR: return "check the path"
        case EMFILE, ENFILE: return "raise the limit (ulimit -n)"
        case ENAMETOOLONG: return "choose a shorter name"
        case EIO: return "check the disk before you record again"
        case EWOULDBLOCK where self.operation == .lock: return "stop the other recorder, or choose another cassette"
        default: return "check the file and its disk"
        }
    }

    static func name(_ number: Int32) -> String {
        switch number {
        case ENOSPC: return "ENOSPC"
        case EDQUOT: return "EDQUOT"
        case EFBIG: return "EFBIG"
        case ENOENT: return "ENOENT"
        case ELOOP: return "ELOOP"
        case EACCES: return "EACCES"
        case EPERM: return "EPERM"
        case EROFS: return "EROFS"
        case EEXIST: return "EEXIST"
        case EISDIR: return "EISDIR"
        case ENOTDIR: return "ENOTDIR"
        case EMFILE: return "EMFILE"
        case ENFILE: return "ENFILE"
        case ENAMETOOLONG: return "ENAMETOOLONG"
        case EIO: return "EIO"
        case EWOULDBLOCK: return "EWOULDBLOCK"
        case EINVAL: return "EINVAL"
        default: return "errno \(number)"
        }
    }
}
