/// Which interceptors refresh in the task that runs.
enum RefreshScope {
    @TaskLocal static var refreshing: Set<ObjectIdentifier> = []
}
