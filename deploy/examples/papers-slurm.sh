#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The papers on a Slurm cluster: an array job, each task of which makes the runs of one shard. Arguments are options of
# `surety-lab papers`.
#
#   job=$(sbatch --parsable papers-slurm.sh --quick)
#   sbatch --dependency="afterok:$job" --wrap 'surety-lab papers merge papers >papers.txt'
#
# Results go to the folder `papers` where sbatch is called, on a file system of all nodes. `sbatch --array=2 papers-slurm.sh --quick`
# continues task 2 after a time limit or the loss of its node.
#SBATCH --job-name=papers
#SBATCH --array=0-3
#SBATCH --cpus-per-task=8
#SBATCH --mem-per-cpu=1G
#SBATCH --time=04:00:00
#SBATCH --requeue
shards=4 # as in --array; SLURM_ARRAY_TASK_COUNT is 1 when a single task is submitted again
exec surety-lab papers --shard "$SLURM_ARRAY_TASK_ID/$shards" --threads "$SLURM_CPUS_PER_TASK" --results papers "$@"
